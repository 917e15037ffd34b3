import test from "ava";
import { type AskTime, TimeOfDay } from "../../../hosts/esp32/time-of-day.js";
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
  const time = new TimeOfDay(clock, store, log, BUILT, ask);
  return { board, store, asked, time, wall: () => clock.wall() };
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

test("a time before the build is not believed", async (t) => {
  const { board, time, wall } = rig();
  board.time = BUILT - 1;
  time.learn();
  await board.clock.advance(1000);
  t.is(wall(), undefined);
  t.true(board.lines.some((line) => line.includes("before this image was built")));
});

test("only a time that a certificate was valid at is noted, once a day, and the next start begins with it", async (t) => {
  const { board, store, time } = rig();
  time.vouch(undefined);
  t.is(store.values.size, 0, "no time is known yet");
  board.time = BUILT + 2_000_000;
  time.learn();
  await board.clock.advance(1000);
  t.is(store.values.size, 0, "nobody vouched for it");
  time.vouch(undefined);
  time.vouch(undefined);
  t.deepEqual(store.changes, ["time"]);
  const next = rig(store);
  t.is(next.time.floor, BUILT + 2_000_000);
  t.deepEqual(next.board.wall, { seconds: BUILT + 2_000_000, known: false });
});

test("where no time server answers, the platform's time is taken, noted, and taken again a day later", async (t) => {
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
  t.is(rig(store).time.floor, BUILT + 3_086_400);
});

test("the platform's time is not taken before the build's, nor while a time server answers", async (t) => {
  const { board, store, time, wall } = rig();
  time.vouch((BUILT - 1) * 1000);
  t.is(wall(), undefined);
  t.is(store.values.size, 0);
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

test("a note of another format is left alone", (t) => {
  const store = new FakeStore();
  for (const note of [[2, 0, 0, 0, 0], [1, 0], []]) {
    store.set("time", Uint8Array.from(note));
    t.is(rig(store).time.floor, BUILT);
    t.deepEqual([...(store.get("time") ?? [])], note);
  }
});

test("a resolver that throws counts as no answer", async (t) => {
  const { board } = rig();
  const { clock, log } = board.machine();
  let asked = 0;
  const time = new TimeOfDay(clock, new FakeStore(), log, BUILT, () => {
    asked++;
    throw new Error("no resolver");
  });
  time.learn();
  await board.clock.advance(20_000);
  t.true(asked > 1);
});
