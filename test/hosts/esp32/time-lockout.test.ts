// No source of the time can shut a board out for good: whatever it was told, it comes online once the platform is honest.
import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { BUILT, FakeBoard } from "./board.js";
import { certificateAt, DAY, Life, openBy, type Plan, YEAR } from "./time-of-day-world.js";

/** As of public CAs, of a CA of one's own, and of one that nobody wants to think of again. */
const LIVES = [
  { life: 90 * DAY, every: 60 * DAY },
  { life: 398 * DAY, every: 300 * DAY },
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

/** One row: what is wrong, and for how long; then all is honest, with a time server and without. */
const TABLE: readonly (readonly [
  what: string,
  set: (one: Life) => void,
  options?: { kind?: number; system?: number },
])[] = [
  ["the platform's Date says 2040", (one) => (one.dated = () => WRONG[4])],
  ["the platform's Date says 2287", (one) => (one.dated = () => WRONG[8])],
  ["the platform's Date says 1970", (one) => (one.dated = () => 0)],
  ["the time server says 2040", (one) => (one.served = () => WRONG[4])],
  ["time server and platform agree on 2040", (one) => (one.served = one.dated = () => WRONG[4])],
  ["time server and platform agree on 2027", (one) => (one.served = one.dated = () => WRONG[2])],
  ["a year in a drawer", (one) => one.pass(YEAR)],
  [
    "a year in a drawer, after a Date of 2040",
    (one) => {
      one.dated = () => WRONG[4];
      one.pass(YEAR);
    },
  ],
  ["ten years in a drawer", (one) => one.pass(10 * YEAR)],
  ["the system's clock shows 2106", () => {}, { system: 2 ** 32 - 1 }],
  ["the system's clock shows 2031", () => {}, { system: WRONG[3] }],
];

for (const [what, set, { system } = {}] of TABLE)
  for (const { life: lasts, every } of LIVES)
    for (const isServed of [false, true])
      test(`${what}: certificates of ${Math.round(lasts / DAY)} days, ${isServed ? "a" : "no"} time server`, async (t) => {
        const built = BUILT;
        const truth = built + 100 * DAY;
        const one = new Life(built, truth, {
          first: Math.floor(truth - 20 * every - 10 * DAY),
          life: lasts,
          every,
        });
        one.boot(0);
        one.served = one.dated = () => one.truth;
        one.learn();
        await one.clock.advance(1000);
        t.true(await one.connect());
        const { floor } = one;
        one.served = one.dated = () => undefined;
        set(one);
        one.boot(system ?? 0);
        one.learn();
        await one.clock.advance(1000);
        // Twice: what is noted in one connection must not be in the way of the next.
        await one.connect();
        await one.connect();
        t.true(one.floor >= floor && one.floor <= one.truth);
        one.served = () => (isServed ? one.truth : undefined);
        one.dated = () => one.truth;
        one.boot(one.system);
        one.learn();
        t.true(await one.connect());
        await one.clock.advance(1000);
        t.true(await one.connect());
        t.true(Math.abs((one.wall ?? 0) - one.truth) < DAY, `${one.wall} ${one.truth}`);
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
});

const CONFIG = {
  baseUrl: "https://platform.test",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: KEY, secret: SECRET },
};
/** Certificates of 90 days, the first from a day before BUILT on. */
const PLAN: Plan = { first: BUILT - DAY - 600 * DAY, life: 90 * DAY, every: 60 * DAY };

/** A whole board, and a platform over TLS. `truth`: the time, in seconds since 1970. */
function wholeBoard(t: ExecutionContext) {
  const board = new FakeBoard(CONFIG);
  const platform = new FakePlatform(board.clock, board.net);
  let truth = BUILT + DAY;
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
    t.true(Math.abs(board.system - now()) < DAY);
    board.time = now();
    t.true(await start(400), "after a year in a drawer");
  });

test("a board that lay in a drawer for a year is online without a time server", async (t) => {
  const { board, platform, now, start } = wholeBoard(t);
  platform.dates = () => now() * 1000;
  t.true(await start(0));
  t.true(await start(365));
  t.true(Math.abs(board.system - now()) < DAY);
});

test("an estimate that an earlier image stored does not shut a board out", async (t) => {
  const { board, platform, now, start } = wholeBoard(t);
  platform.dates = () => now() * 1000;
  board.nvs.set("mote-host", new Map([["time", record(Date.UTC(2040, 0, 1) / 1000)]]));
  t.true(await start(0));
  t.true(Math.abs(board.system - now()) < DAY);
});
