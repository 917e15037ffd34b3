import test from "ava";
import { type AskTime, TimeOfDay, type Validity } from "../../../hosts/esp32/time-of-day.js";
import { FakeStore } from "../../fakes/host.js";
import { BUILT, FakeBoard } from "./board.js";

function rig(store = new FakeStore()) {
  const board = new FakeBoard();
  const { clock, log, askTime } = board.machine();
  const asked: number[] = [];
  const ask: AskTime = (done) => {
    asked.push(board.clock.now());
    askTime(done);
  };
  const chain = { shown: undefined as Validity | undefined };
  const time = new TimeOfDay(clock, store, log, BUILT, ask, () => chain.shown);
  return { board, store, asked, time, chain, wall: () => clock.wall() };
}

test("it begins with the time of the build: plausible, and no time to stamp a point with", (t) => {
  const { board, wall } = rig();
  t.deepEqual(board.wall, { seconds: BUILT, known: false });
  t.is(wall(), undefined);
});

test("the time server is asked until it answers, and once a day from then on", async (t) => {
  const { board, asked, time, wall } = rig();
  time.learn();
  await board.clock.advance(100_000);
  t.true(asked.length > 3 && asked.length < 8);
  board.time = BUILT + 5000;
  await board.clock.advance(200_000);
  t.true((wall() ?? 0) >= (BUILT + 5000) * 1000);
  const until = asked.length;
  board.time = BUILT + 95_000;
  await board.clock.advance(86_400_000);
  t.is(asked.length, until + 1);
});

test("to learn again while it is asking asks no second time", async (t) => {
  const { board, asked, time } = rig();
  time.learn();
  time.learn();
  await board.clock.advance(100);
  t.is(asked.length, 1);
});

/** As a start after a power cut: the system's clock shows 1970. */
const powerOn = (store: FakeStore) => rig(store);
const DAY = 86_400;
const LAST = BUILT + 20 * 365.25 * DAY;

test("a time before the build, or 20 years after it, is not accepted from anybody", async (t) => {
  for (const wrong of [0, BUILT - 1, LAST + 1, 2 ** 32, Date.UTC(9999, 0, 1) / 1000]) {
    const { board, store, time, wall } = rig();
    board.time = wrong;
    time.learn();
    await board.clock.advance(1000);
    t.is(wall(), undefined);
    t.true(board.lines.some((line) => line.includes(`is not accepted: ${wrong}`)));
    time.vouch(wrong * 1000);
    t.is(wall(), undefined);
    t.is(store.values.size, 0);
  }
  const { time, wall } = rig();
  time.vouch(LAST * 1000);
  t.is(wall(), LAST * 1000);
});

test("a time at which TLS succeeded is noted once a day, and the next start begins with it", async (t) => {
  const { board, store, time } = rig();
  time.vouch(undefined);
  t.is(store.values.size, 0, "no time is known yet");
  board.time = BUILT + 2_000_000;
  time.learn();
  await board.clock.advance(1000);
  t.is(store.values.size, 0, "no handshake succeeded by it");
  time.vouch(undefined);
  time.vouch(undefined);
  t.deepEqual(store.changes, ["time"]);
  const next = powerOn(store);
  t.is(next.time.floor, BUILT, "an estimate is no floor");
  t.deepEqual(next.board.wall, { seconds: BUILT + 2_000_000, known: false });
});

test("the estimate follows the time in either direction", async (t) => {
  const store = new FakeStore();
  for (const seconds of [BUILT + 90 * DAY, BUILT + 10 * DAY, BUILT + 11 * DAY]) {
    const { time } = powerOn(store);
    time.vouch(seconds * 1000);
    t.is(powerOn(store).board.wall.seconds, seconds);
  }
});

test("without a time server the platform's time is used, noted, and used again a day later", async (t) => {
  const { board, store, time, wall } = rig();
  time.learn();
  await board.clock.advance(1000);
  time.vouch(undefined);
  t.is(wall(), undefined);
  time.vouch((BUILT + 3_000_000) * 1000 + 999);
  t.deepEqual(board.wall, { seconds: BUILT + 3_000_000, known: true });
  t.deepEqual(store.changes, ["time"]);
  time.vouch((BUILT + 3_000_100) * 1000);
  t.is(board.wall.seconds, BUILT + 3_000_000, "once a day");
  time.vouch((BUILT + 3_086_400) * 1000);
  t.is(board.wall.seconds, BUILT + 3_086_400);
  time.vouch((BUILT + 100) * 1000);
  t.is(board.wall.seconds, BUILT + 100, "a platform that was wrong is right again");
});

test("the platform's time is not used while a time server answers", async (t) => {
  const { board, time } = rig();
  board.time = BUILT + 5000;
  time.learn();
  await board.clock.advance(1000);
  time.vouch((BUILT + 9_000_000) * 1000);
  t.is(board.wall.seconds, BUILT + 5000);
  board.time = undefined;
  await board.clock.advance(86_400_000);
  time.vouch((BUILT + 9_000_000) * 1000);
  t.is(board.wall.seconds, BUILT + 9_000_000, "it does not answer any more");
});

/** A handshake that succeeds. */
async function shake({ board, time, chain }: ReturnType<typeof rig>, shown: Validity): Promise<void> {
  const open = time.watch((_name, _port, _secure, event) => {
    board.clock.timer(1, () => {
      chain.shown = shown;
      event("opened");
      chain.shown = undefined;
    });
    return { write: () => 0, read: () => 0, close: () => {} };
  });
  open("platform.test", 443, true, () => {});
  await board.clock.advance(10);
}

test("only a certificate and a Date that fits it raise the floor, and never above the issue date", async (t) => {
  const made = rig();
  const { board, store, time } = made;
  board.time = BUILT + 100 * DAY;
  time.learn();
  await board.clock.advance(1000);
  time.vouch((BUILT + 100 * DAY) * 1000);
  t.is(time.floor, BUILT, "time server and platform agree, and no certificate was shown");
  const shown = { from: BUILT + 50 * DAY, to: BUILT + 140 * DAY };
  await shake(made, shown);
  t.is(time.floor, BUILT, "the platform has not said what time it is");
  for (const wrong of [shown.from - 1, shown.to + 1, undefined]) time.vouch(wrong && wrong * 1000);
  t.is(time.floor, BUILT);
  time.vouch((BUILT + 101 * DAY) * 1000);
  t.is(time.floor, shown.from);
  t.deepEqual(store.changes, ["time", "time-floor"]);
  time.vouch((BUILT + 102 * DAY) * 1000);
  await shake(made, { from: BUILT + 10 * DAY, to: BUILT + 400 * DAY });
  time.vouch((BUILT + 102 * DAY) * 1000);
  t.is(time.floor, shown.from, "it never falls");
  t.is(powerOn(store).time.floor, shown.from);
  const { clock, log, askTime } = board.machine();
  const later = new TimeOfDay(clock, store, log, BUILT + 1, askTime, () => undefined);
  t.is(later.floor, BUILT + 1, "another image begins with its own build date");
});

test("a Date outside the dates of the platform's own certificate is not used", async (t) => {
  const made = rig();
  await shake(made, { from: BUILT - DAY, to: BUILT + 90 * DAY });
  made.time.vouch((BUILT + 91 * DAY) * 1000);
  t.is(made.wall(), undefined);
  made.time.vouch((BUILT + 5 * DAY) * 1000);
  t.is(made.wall(), (BUILT + 5 * DAY) * 1000);
});

test("the records do not wrap after 2106", (t) => {
  const store = new FakeStore();
  const { clock, log, askTime } = new FakeBoard().machine();
  const built = Date.UTC(2100, 0, 1) / 1000;
  const start = (seconds: number): TimeOfDay => {
    clock.assume(0);
    const time = new TimeOfDay(clock, store, log, built, askTime, () => undefined);
    time.vouch(seconds * 1000);
    return time;
  };
  const late = Date.UTC(2110, 0, 1) / 1000;
  start(late);
  t.deepEqual([...(store.get("time") ?? [])], [1, 255, 255, 255, 255]);
  t.is(start(late).floor, built);
  t.is(clock.system(), late);
});

test("a record of another format is left alone", (t) => {
  const store = new FakeStore();
  for (const key of ["time", "time-floor"])
    for (const note of [[2, 0, 0, 0, 0], [1, 0], [], [2, ...Array(10).fill(200)]]) {
      store.set(key, Uint8Array.from(note));
      t.is(rig(store).time.floor, BUILT);
      t.deepEqual([...(store.get(key) ?? [])], note);
    }
});

test("a resolver that throws counts as no answer", async (t) => {
  const { board } = rig();
  const { clock, log } = board.machine();
  let asked = 0;
  const ask = (): never => {
    asked++;
    throw new Error("no resolver");
  };
  const time = new TimeOfDay(clock, new FakeStore(), log, BUILT, ask, () => undefined);
  time.learn();
  await board.clock.advance(20_000);
  t.true(asked > 1);
});
