import test from "ava";
import type { Outcome } from "../../../src/http/outcome.js";
import { MARGIN_MS, PollTiming } from "../../../src/platform/poll-timing.js";

const HOUR = 3_600_000;
const busy = (status: number): Outcome => ({ kind: "busy", status, retryAfterMs: undefined });
const done = (text: string, status = 200): Outcome => {
  return { kind: "done", status, body: Buffer.from(text), whole: true, date: undefined };
};
const SILENCE: Outcome = { kind: "lost", reason: "no answer in time" };
const BROKEN: Outcome = { kind: "lost", reason: "connection reset" };

/** Polls that last as long as they ask. */
function hold(timing: PollTiming, times: number): void {
  for (let i = 0; i < times; i++) timing.pollEnded(busy(408), timing.askedMs);
}

test("20 polls that end by 408 make the next half as long again, up to 5 min", (t) => {
  const timing = new PollTiming();
  hold(timing, 19);
  t.is(timing.askedMs, 25_000);
  hold(timing, 1);
  t.is(timing.askedMs, 37_500);
  const steps: number[] = [];
  for (let i = 0; i < 7; i++) {
    hold(timing, 20);
    steps.push(timing.askedMs);
  }
  t.deepEqual(steps, [56_250, 84_375, 126_562, 189_843, 284_764, 300_000, 300_000]);
});

test("what came is delivered, what was held is ended, what was turned away is busy", (t) => {
  const verdict = (outcome: Outcome, tookMs: number) => new PollTiming().pollEnded(outcome, tookMs);
  t.is(verdict(done("{}"), 10), "delivered");
  t.is(verdict({ ...done("{"), whole: false } as Outcome, 10), "delivered");
  for (const outcome of [busy(408), busy(503), busy(504), done("", 204), done("")]) {
    t.is(verdict(outcome, 12_500), "ended");
    t.is(verdict(outcome, 12_400), "busy");
  }
  for (const outcome of [
    busy(429),
    busy(500),
    busy(502),
    { kind: "refused", status: 401, body: new Uint8Array(0) } as const,
  ]) {
    t.is(verdict(outcome, 25_000), "busy");
  }
  t.is(verdict(BROKEN, 10), "lost");
  t.is(verdict(SILENCE, 40_000), "lost");
});

test("a 503 or 504 sets the ceiling at once, 3 s below what was asked for or took place", (t) => {
  for (const status of [503, 504]) {
    const timing = new PollTiming();
    hold(timing, 20);
    t.is(timing.pollEnded(busy(status), 30_000), "ended");
    t.is(timing.askedMs, 27_000);
    hold(timing, 100);
    t.is(timing.askedMs, 27_000);
    // Others that were open meanwhile say the same.
    timing.pollEnded(busy(status), 30_500, true, 37_500);
    t.is(timing.askedMs, 27_000);
    timing.pollEnded(busy(status), 31_000);
    t.is(timing.askedMs, 24_000);
  }
  const short = new PollTiming();
  short.pollEnded(busy(503), 14_000);
  t.is(short.askedMs, 11_000);
});

test("silence on a poll longer than any that came back sets the ceiling below what it asked", (t) => {
  const timing = new PollTiming();
  hold(timing, 20);
  t.is(timing.pollEnded(SILENCE, timing.askedMs + MARGIN_MS), "lost");
  t.is(timing.askedMs, 30_000);
});

test("silence of a length that worked before is the network's, until the third in a row", (t) => {
  const timing = new PollTiming();
  hold(timing, 1);
  timing.pollEnded(SILENCE, 40_000);
  timing.pollEnded(SILENCE, 40_000);
  t.is(timing.askedMs, 25_000);
  hold(timing, 1);
  timing.pollEnded(SILENCE, 40_000);
  timing.pollEnded(SILENCE, 40_000);
  t.is(timing.askedMs, 25_000);
  timing.pollEnded(SILENCE, 40_000);
  t.is(timing.askedMs, 20_000);
});

test("an outage in which nothing is answered shortens no poll, however long it lasts", (t) => {
  const timing = new PollTiming();
  hold(timing, 1);
  for (let i = 0; i < 100; i++) timing.pollEnded(SILENCE, 40_000, false);
  t.is(timing.askedMs, 25_000);
  for (let i = 0; i < 3; i++) timing.pollEnded(SILENCE, 40_000, true);
  t.is(timing.askedMs, 20_000);
});

test("a connection that breaks in a long poll counts the third time, an unmade one never", (t) => {
  const timing = new PollTiming();
  for (let i = 0; i < 9; i++) timing.pollEnded(BROKEN, 5);
  t.is(timing.askedMs, 25_000);
  timing.pollEnded(BROKEN, 20_000);
  timing.pollEnded(BROKEN, 20_000);
  timing.pollEnded(done("{}"), 5);
  timing.pollEnded(BROKEN, 20_000);
  timing.pollEnded(BROKEN, 20_000);
  t.is(timing.askedMs, 25_000);
  timing.pollEnded(BROKEN, 20_000);
  t.is(timing.askedMs, 16_000);
});

test("no poll is shorter than 5 s", (t) => {
  const timing = new PollTiming();
  for (let i = 0; i < 30; i++) timing.pollEnded(busy(503), timing.askedMs);
  t.is(timing.askedMs, 5000);
});

test("a longer poll is tried again after 52 h of polling", (t) => {
  const timing = new PollTiming();
  timing.pollEnded(busy(504), 15_000);
  t.is(timing.askedMs, 12_000);
  const polls = (52 * HOUR) / 12_000;
  hold(timing, polls - 20);
  t.is(timing.askedMs, 12_000);
  hold(timing, 20);
  t.is(timing.askedMs, 18_000);
});
