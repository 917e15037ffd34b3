import test from "ava";
import fc from "fast-check";
import { startBoard } from "../../../hosts/esp32/start.js";
import { type AskTime, TimeOfDay, type Validity } from "../../../hosts/esp32/time-of-day.js";
import { FakeStore } from "../../fakes/host.js";
import { BUILT, FakeBoard } from "./board.js";
import { plain, READY, rig, silent } from "./rig.js";
import { certificateAt, DAY, Life, openBy, type Plan, YEAR } from "./time-of-day-world.js";

function timeRig(store = new FakeStore()) {
  const board = new FakeBoard();
  const { clock, log, askTime } = board.machine();
  const asked: number[] = [];
  const resolver = { throws: false };
  const ask: AskTime = (done) => {
    asked.push(board.clock.now());
    if (resolver.throws) throw new Error("no resolver");
    askTime(done);
  };
  const chain = { shown: undefined as Validity | undefined };
  const time = new TimeOfDay(clock, store, log, BUILT, ask, () => chain.shown);
  return { board, store, asked, resolver, time, chain, wall: () => clock.wall() };
}

/** Asks the time server, which says `seconds`. */
async function learn({ board, time }: ReturnType<typeof timeRig>, seconds: number): Promise<void> {
  board.time = seconds;
  time.learn();
  await board.clock.advance(1000);
}

test("asks the time server until it answers, then daily; stamps no point before", async (t) => {
  const { board, asked, resolver, time, wall } = timeRig();
  t.deepEqual(board.wall, { seconds: BUILT, known: false });
  resolver.throws = true;
  time.learn();
  await board.clock.advance(20_000);
  resolver.throws = false;
  await board.clock.advance(80_000);
  t.true(asked.length > 3 && asked.length < 8);
  t.is(wall(), undefined);
  board.time = BUILT + 5000;
  await board.clock.advance(200_000);
  t.true((wall() ?? 0) >= (BUILT + 5000) * 1000);
  const until = asked.length;
  board.time = BUILT + 95_000;
  await board.clock.advance(86_400_000);
  t.is(asked.length, until + 1);
});

const LAST = BUILT + 20 * 365.25 * DAY;

test("a time before the build, or 20 years after it, is not accepted from anybody", async (t) => {
  for (const wrong of [0, BUILT - 1, LAST + 1, 2 ** 32, Date.UTC(9999, 0, 1) / 1000]) {
    const made = timeRig();
    const { board, store, time, wall } = made;
    await learn(made, wrong);
    t.is(wall(), undefined);
    t.true(board.lines.some((line) => line.includes(`is not accepted: ${wrong}`)));
    time.platformAnswered(wrong * 1000);
    t.is(wall(), undefined);
    t.is(store.values.size, 0);
  }
  const { time, wall } = timeRig();
  time.platformAnswered(LAST * 1000);
  t.is(wall(), LAST * 1000);
});

test("a time at which TLS succeeded is noted once a day, and the next start begins with it", async (t) => {
  const made = timeRig();
  const { store, time } = made;
  time.platformAnswered(undefined);
  await learn(made, BUILT + 2_000_000);
  t.is(store.values.size, 0, "no handshake succeeded by it");
  time.platformAnswered(undefined);
  time.platformAnswered(undefined);
  t.deepEqual(store.changes, ["time"]);
  const next = timeRig(store);
  t.is(next.time.floor, BUILT, "an estimate is no floor");
  t.deepEqual(next.board.wall, { seconds: BUILT + 2_000_000, known: false });
});

test("the platform's time is used once a day, unless a time server answers", async (t) => {
  const { board, store, time } = timeRig();
  for (const [said, used] of [
    [3_000_000, 3_000_000],
    [3_000_100, 3_000_000],
    [3_086_400, 3_086_400],
    // A platform that was wrong is right again.
    [100, 100],
  ] as const) {
    time.platformAnswered((BUILT + said) * 1000 + 999);
    t.deepEqual(board.wall, { seconds: BUILT + used, known: true });
  }
  t.true(store.changes.includes("time"));
  const served = timeRig();
  await learn(served, BUILT + 5000);
  served.time.platformAnswered((BUILT + 9_000_000) * 1000);
  t.is(served.board.wall.seconds, BUILT + 5000);
  served.board.time = undefined;
  await served.board.clock.advance(86_400_000);
  served.time.platformAnswered((BUILT + 9_000_000) * 1000);
  t.is(served.board.wall.seconds, BUILT + 9_000_000, "it does not answer any more");
});

// No source of the time can shut a board out for good: whatever it was told, it comes online once
// the platform is honest.

/** As of public CAs, of a CA of one's own, and of one that nobody wants to think of again. */
const LIVES = [
  { life: 90 * DAY, every: 60 * DAY },
  { life: 398 * DAY, every: 300 * DAY },
  { life: 10 * YEAR, every: 9 * YEAR },
  { life: 100 * YEAR, every: 50 * YEAR },
] as const;

/**
 * What a wrong clock shows: of a dead battery, of a typing error, at the end of 32 bits, and beyond
 * what a Date can hold.
 */
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

/** The stored estimate. */
function record(seconds: number): Uint8Array {
  const bytes = new Uint8Array(6);
  bytes[0] = 1;
  new DataView(bytes.buffer).setUint32(2, seconds);
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
        one.pass(days * DAY);
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
        const old = { from: floor - 100 * DAY, to: floor - 1 };
        if (await one.connect(() => old)) return false;
      }
      one.served = says(one, last);
      one.dated = says(one, honest);
      one.boot(steps.length % 2 === 0 ? 0 : undefined);
      one.learn();
      const first = await one.connect();
      await one.clock.advance(10_000);
      const second = await one.connect();
      const isRight = Math.abs((one.wall ?? 0) - one.truth) < DAY;
      return first && second && isRight;
    }),
    { numRuns: 10_000 },
  );
  t.log({ lives, lied });
  t.true(lied > lives);
});

test("a chain that expired, or is not valid yet, is refused while a time server answers", async (t) => {
  const truth = BUILT + 1000 * DAY;
  const one = new Life(BUILT, truth, { first: truth - 10 * DAY, life: 90 * DAY, every: 60 * DAY });
  one.served = one.dated = () => one.truth;
  one.boot(0);
  one.learn();
  await one.clock.advance(1000);
  const expired = { from: truth - 100 * DAY, to: truth - DAY };
  const early = { from: truth + DAY, to: truth + 100 * DAY };
  for (const chain of [expired, early]) t.false(await one.connect(() => chain));
  t.true(await one.connect());
  t.is(one.floor, truth - 10 * DAY, "the date on which the CA issued the certificate");
  t.false(await one.connect(() => expired), "after one that is valid");
  t.is(one.system, one.truth);
});

test("a time that only a failed handshake was made with is taken back", async (t) => {
  const truth = BUILT + 1000 * DAY;
  const one = new Life(BUILT, truth, { first: truth - 10 * DAY, life: 90 * DAY, every: 60 * DAY });
  one.boot(truth);
  // The second handshake meets another server than the first.
  const chains = [
    { from: truth + DAY, to: truth + 2 * DAY },
    { from: truth + 30 * DAY, to: truth + 40 * DAY },
  ];
  t.false(await one.connect(() => chains.shift()!));
  t.is(chains.length, 0);
  t.is(one.system, one.truth);
  t.is(one.unclosed, 0, "the first connection's memory is free, too");
});

/** Certificates of 90 days, the first from a day before BUILT on. */
const PLAN: Plan = { first: BUILT - DAY - 600 * DAY, life: 90 * DAY, every: 60 * DAY };

test("a whole board is online again after a platform's Date of 2040, and after a year in a drawer", async (t) => {
  const { board, platform } = rig(t, { ...READY, baseUrl: "https://platform.test" }, plain);
  board.time = undefined;
  let truth = BUILT + DAY;
  const now = (): number => truth + Math.floor(board.clock.now() / 1000);
  /** Starts it after so many days without power. True if it is online a minute later. */
  const start = async (days: number): Promise<boolean> => {
    truth += days * DAY;
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
    const agent = startBoard({ ...machine, open }, silent);
    await board.clock.advance(60_000);
    const isOnline = agent?.state === "online";
    await Promise.all([agent?.stop(), board.clock.advance(3000)]);
    return isOnline;
  };
  platform.dates = () => Date.UTC(2040, 0, 1);
  t.true(await start(0));
  t.true(await start(1), "as long as the Date is wrong");
  platform.dates = () => now() * 1000;
  t.true(await start(30));
  t.true(Math.abs(board.system - now()) < DAY);
  board.time = now();
  t.true(await start(400));
});
