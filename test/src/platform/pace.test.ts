// How long a device waits after each outcome, and how much it may ask.
import test from "ava";
import { lost, type Outcome } from "../../../src/http/outcome.js";
import { PACES, type PaceName, WAITS_S, type Waits, waitMs } from "../../../src/platform/pace.js";
import { Pacer } from "../../../src/platform/pacer.js";
import type { PlatformSession } from "../../../src/platform/session.js";
import { FakeClock } from "../../fakes/clock.js";
import { seededRandom } from "../../fakes/host.js";

const DONE: Outcome = { kind: "done", status: 200, body: new Uint8Array(), whole: true, date: undefined };
const UNACCEPTED: readonly Outcome[] = [
  { kind: "refused", status: 400, body: new Uint8Array() },
  { kind: "busy", status: 503, retryAfterMs: undefined },
  lost("closed"),
];

/** A host whose dice always show the same. */
const loaded = (byte: number) => ({ random: (into: Uint8Array) => void into.fill(byte) });
const waits = (host: ReturnType<typeof loaded>, list: Waits, count: number) =>
  Array.from({ length: count }, (_, nth) => waitMs(host, list, nth));
const inSeconds = (list: Waits, count: number) =>
  waits(loaded(255), list, count).map((ms) => Math.round(ms / 100) / 10);

test("the longest waits without an answer double from 1 s to 5 min, and end at 5 min and a tenth", (t) => {
  t.deepEqual(inSeconds(WAITS_S.unreachable, 12), [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 330, 330]);
});

test("every list of waits begins with seconds, grows, and ends within 10 min and a tenth", (t) => {
  for (const [what, list] of Object.entries(WAITS_S)) {
    t.true(list[0] <= 5, what);
    t.deepEqual(
      [...list],
      list.toSorted((a, b) => a - b),
      what,
    );
    t.true(inSeconds(list, list.length + 1).at(-1)! <= 660, what);
  }
});

test("after a vain wait the random wait spans at least that time, and at most 5 min", (t) => {
  const wait = (nth: number, tookMs: number) => waitMs(loaded(255), WAITS_S.unreachable, nth, tookMs);
  t.is(wait(0, 35_000), 35_000);
  t.is(wait(7, 35_000), 128_000);
  t.is(wait(0, 900_000), 300_000);
});

test("the shortest waits are 100 ms, and less than a tenth shorter than an end that is reached", (t) => {
  t.deepEqual(waits(loaded(0), WAITS_S.busy, 12), [...Array(10).fill(100), 270_000, 270_000]);
  t.deepEqual(waits(loaded(0), [1, 2, 4], 5), [100, 100, 100, 3600, 3600]);
});

test("devices that fail together do not come back together", (t) => {
  const random = seededRandom(7);
  const sixth = Array.from({ length: 1000 }, () => waitMs({ random }, WAITS_S.unreachable, 5));
  const quarters = [0, 1, 2, 3].map(
    (q) => sixth.filter((ms) => Math.min(3, Math.floor(ms / 8000)) === q).length,
  );
  for (const count of quarters) t.true(count > 190 && count < 310, `${quarters}`);
});

function rig(pace: PaceName, byte = 255) {
  const clock = new FakeClock();
  const session = { host: { clock, ...loaded(byte) }, running: true, answeredAt: -1 };
  return { clock, session, pacer: new Pacer(session as unknown as PlatformSession, PACES[pace]) };
}

test("only an accepted request is free, so that refused ones are slowed down", (t) => {
  const sent = (outcome: Outcome, count: number) => {
    const { pacer } = rig("telemetry");
    for (let n = 0; n < count; n++) {
      t.is(pacer.delayMs, 0, `${outcome.kind}, ${n}`);
      pacer.spend();
      pacer.ended(outcome, 0);
    }
    return pacer.delayMs;
  };
  for (const outcome of UNACCEPTED) t.is(sent(outcome, 60), 1000, outcome.kind);
  t.is(sent(DONE, 200), 0);
});

test("a budget is whole again after a minute, and holds no more than its burst", async (t) => {
  const { clock, pacer } = rig("provisioning");
  for (const idle of [0, 60_000, 600_000]) {
    await clock.advance(idle);
    for (let n = 0; n < PACES.provisioning.burst; n++) {
      t.is(pacer.delayMs, 0, `${idle}, ${n}`);
      pacer.spend();
    }
    t.is(pacer.delayMs, 2000, `${idle}`);
  }
});

test("Retry-After lengthens a wait, and shortens a long one to 10 s at least", (t) => {
  const { pacer } = rig("rpcPoll");
  const after = (retryAfterMs: number | undefined) => {
    pacer.after({ kind: "busy", status: 429, retryAfterMs });
    return Math.round(pacer.delayMs / 1000);
  };
  t.deepEqual([after(0), after(60_000), after(undefined), after(undefined), after(0)], [1, 60, 4, 8, 10]);
  pacer.after(DONE);
  t.is(pacer.delayMs, 0);
  t.is(after(undefined), 1);
});

test("a loss slows its route down only if others were answered meanwhile: otherwise the device waits", (t) => {
  const { pacer, session } = rig("attributes");
  pacer.ended(lost("reset"), 0);
  t.is(pacer.delayMs, 0);
  session.answeredAt = 1;
  pacer.ended(lost("reset"), 0);
  t.is(pacer.delayMs, 1000);
});
