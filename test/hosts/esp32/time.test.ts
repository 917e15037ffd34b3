import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { startBoard } from "../../../hosts/esp32/start.js";
import { type AskTime, TimeOfDay, type Validity } from "../../../hosts/esp32/time-of-day.js";
import type { Agent } from "../../../src/index.js";
import { FakeStore } from "../../fakes/host.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { BUILT, FakeBoard } from "./board.js";
import { certificateAt, DAY as DAY_MS, Life, openBy, type Plan, YEAR } from "./time-of-day-world.js";

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

// No source of the time can shut a board out for good: whatever it was told, it comes online once the platform is honest.

/** As of public CAs, of a CA of one's own, and of one that nobody wants to think of again. */
const LIVES = [
  { life: 90 * DAY_MS, every: 60 * DAY_MS },
  { life: 398 * DAY_MS, every: 300 * DAY_MS },
  { life: 10 * YEAR, every: 9 * YEAR },
  { life: 100 * YEAR, every: 50 * YEAR },
] as const;

/** What a wrong clock shows: of a dead battery, of a typing error, at the end of 32 bits, and beyond what a Date can hold. */
const WRONG = [
  0,
  Date.UTC(2000, 0, 1) / 1000,
  Date.UTC(2027, 0, 1) / 1000,
  Date.UTC(2031, 5, 1) / 1000,
  Date.UTC(2040, 0, 1) / 1000,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  Date.UTC(2287, 0, 1) / 1000,
  Date.UTC(9999, 11, 31) / 1000,
] as const;

const honest = "honest" as const;
const source = fc.oneof(fc.constant(undefined), fc.constant(honest), fc.constantFrom(...WRONG));
const step = fc.record({
  served: source,
  dated: source,
  days: fc.constantFrom(0, 1, 30, 200, 400),
  /** Of the system's clock at the start: it went on, the power was off, or it is wrong. */
  system: fc.oneof(fc.constant(undefined), fc.constant(0), fc.constantFrom(...WRONG)),
  connections: fc.integer({ min: 1, max: 3 }),
});

const life = fc
  .record({
    built: fc.integer({ min: BUILT, max: BUILT + 3 * YEAR }),
    age: fc.integer({ min: 0, max: 10 * YEAR }),
    kind: fc.constantFrom(...LIVES),
    phase: fc.double({ min: 0, max: 1, noNaN: true }),
    note: fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
    steps: fc.array(step, { maxLength: 6 }),
    last: fc.constantFrom(undefined, honest),
  })
  .map(({ built, age, kind, phase, note, steps, last }) => {
    const truth = built + age;
    const first = Math.floor(truth - 40 * kind.every - phase * kind.every);
    const one = new Life(built, truth, { ...kind, first });
    if (note !== undefined) one.store.set("time", record(note));
    return { one, steps, last };
  });

/** The estimate, as earlier images wrote it as well. */
function record(seconds: number): Uint8Array {
  const bytes = new Uint8Array(5);
  bytes[0] = 1;
  new DataView(bytes.buffer).setUint32(1, seconds);
  return bytes;
}

const says =
  (one: Life, what: typeof honest | number | undefined): (() => number | undefined) =>
  () =>
    what === honest ? one.truth : what;

test("a board comes online once its platform is honest, whatever it was told before", async (t) => {
  let lives = 0;
  let lied = 0;
  await fc.assert(
    fc.asyncProperty(life, async ({ one, steps, last }) => {
      lives++;
      one.boot(0);
      let floor = one.floor;
      for (const { served, dated, days, system, connections } of steps) {
        one.pass(days * DAY_MS);
        one.served = says(one, served);
        one.dated = says(one, dated);
        one.boot(system);
        one.learn();
        let isOnline = false;
        for (let n = 0; n < connections; n++) {
          isOnline = (await one.connect()) || isOnline;
          await one.clock.advance(10_000);
        }
        if (typeof served === "number" || typeof dated === "number") lied++;
        // Only a verified platform raises the floor, and never above the truth.
        if (!isOnline && one.floor !== floor) return false;
        if (one.floor < floor || one.floor > one.truth) return false;
        floor = one.floor;
        // Whoever has the key of a certificate that ended before the floor is refused.
        const old = { from: floor - 100 * DAY_MS, to: floor - 1 };
        if (await one.connect(() => old)) return false;
      }
      one.served = says(one, last);
      one.dated = says(one, honest);
      one.boot(steps.length % 2 === 0 ? 0 : undefined);
      one.learn();
      const first = await one.connect();
      await one.clock.advance(10_000);
      const second = await one.connect();
      const isRight = Math.abs((one.wall ?? 0) - one.truth) < DAY_MS;
      return first && second && isRight;
    }),
    { numRuns: 10_000 },
  );
  t.log({ lives, lied });
  t.true(lied > lives);
});

test("a chain that expired, or is not valid yet, is refused while a time server answers", async (t) => {
  const truth = BUILT + 1000 * DAY_MS;
  const one = new Life(BUILT, truth, { first: truth - 10 * DAY_MS, life: 90 * DAY_MS, every: 60 * DAY_MS });
  one.served = one.dated = () => one.truth;
  one.boot(0);
  one.learn();
  await one.clock.advance(1000);
  const expired = { from: truth - 100 * DAY_MS, to: truth - DAY_MS };
  const early = { from: truth + DAY_MS, to: truth + 100 * DAY_MS };
  for (const chain of [expired, early]) t.false(await one.connect(() => chain));
  t.true(await one.connect());
  t.is(one.floor, truth - 10 * DAY_MS, "the date on which the CA issued the certificate");
  t.false(await one.connect(() => expired), "after one that is valid");
  t.is(one.system, one.truth);
});

test("a time that only a failed handshake was made with is taken back", async (t) => {
  const truth = BUILT + 1000 * DAY_MS;
  const one = new Life(BUILT, truth, { first: truth - 10 * DAY_MS, life: 90 * DAY_MS, every: 60 * DAY_MS });
  one.boot(truth);
  // The second handshake meets another server than the first.
  const chains = [
    { from: truth + DAY_MS, to: truth + 2 * DAY_MS },
    { from: truth + 30 * DAY_MS, to: truth + 40 * DAY_MS },
  ];
  t.false(await one.connect(() => chains.shift()!));
  t.is(chains.length, 0);
  t.is(one.system, one.truth);
});

const CONFIG = {
  baseUrl: "https://platform.test",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: KEY, secret: SECRET },
};
/** Certificates of 90 days, the first from a day before BUILT on. */
const PLAN: Plan = { first: BUILT - DAY_MS - 600 * DAY_MS, life: 90 * DAY_MS, every: 60 * DAY_MS };

/** A whole board, and a platform over TLS. `truth`: the time, in seconds since 1970. */
function wholeBoard(t: ExecutionContext) {
  const board = new FakeBoard(CONFIG);
  const platform = new FakePlatform(board.clock, board.net);
  let truth = BUILT + DAY_MS;
  let agent: Agent | undefined;
  const now = (): number => truth + Math.floor(board.clock.now() / 1000);
  board.onRadio = (radio) => {
    radio.onConnect = () => void board.clock.timer(500, () => radio.connection === 300 && radio.become(500));
  };
  const stop = async (): Promise<void> => {
    const stopped = agent?.stop();
    await board.clock.advance(3000);
    await stopped;
  };
  t.teardown(stop);
  return {
    board,
    platform,
    now,
    /** Starts it after so many days without power, and lets a minute pass. True if it is online then. */
    async start(days: number): Promise<boolean> {
      await stop();
      truth += days * DAY_MS;
      const machine = board.boot();
      const open = openBy(
        board.clock,
        () => board.system,
        () => certificateAt(PLAN, now()),
        (validity) => {
          board.validity = validity ?? { from: 0, to: 0 };
        },
        machine.open,
      );
      agent = startBoard({ ...machine, open }, () => {});
      await board.clock.advance(60_000);
      return agent?.state === "online";
    },
  };
}

for (const wrong of [Date.UTC(2040, 0, 1), Date.UTC(2027, 0, 1), Date.UTC(2100, 0, 1)])
  test(`a board is online again after a platform's Date of ${new Date(wrong).getUTCFullYear()}`, async (t) => {
    const { board, platform, now, start } = wholeBoard(t);
    platform.dates = () => wrong;
    t.true(await start(0));
    t.true(await start(1), "as long as the Date is wrong");
    platform.dates = () => now() * 1000;
    t.true(await start(30));
    t.true(Math.abs(board.system - now()) < DAY_MS);
    board.time = now();
    t.true(await start(400), "after a year in a drawer");
  });

test("a board that lay in a drawer for a year is online without a time server", async (t) => {
  const { board, platform, now, start } = wholeBoard(t);
  platform.dates = () => now() * 1000;
  t.true(await start(0));
  t.true(await start(365));
  t.true(Math.abs(board.system - now()) < DAY_MS);
});

test("an estimate that an earlier image stored does not shut a board out", async (t) => {
  const { board, platform, now, start } = wholeBoard(t);
  platform.dates = () => now() * 1000;
  board.nvs.set("mote-host", new Map([["time", record(Date.UTC(2040, 0, 1) / 1000)]]));
  t.true(await start(0));
  t.true(Math.abs(board.system - now()) < DAY_MS);
});
