// A point that is refused alone is condemned only if the platform takes a probe right after it: a write outage with a content status costs no point.
import test from "ava";
import { BatchLimit } from "../../../../src/agent/telemetry/batch-limit.js";
import { RefusalPolicy } from "../../../../src/agent/telemetry/refusal-policy.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";
import { type Element, TelemetryRig, upTo } from "./rig.js";

const isProbe = (elements: Element[]) => elements.every(({ values }) => !("n" in values));
const probes = (rig: TelemetryRig) => rig.taken.filter((one) => !("n" in one.values));
const MINUTE = 60_000;

for (const [status, body] of [
  [400, ""],
  [403, "no"],
  [413, "too large"],
  [500, "Can't parse value"],
] as const)
  test(`every POST is answered ${status} for a minute while GET works: no point is dropped`, async (t) => {
    const rig = new TelemetryRig({ batchAgeMs: 100 }).start();
    rig.answer = () => ({ status, body });
    for (let n = 0; n < 240; n++) {
      rig.record(n, n + 1);
      await rig.host.clock.advance(250);
    }
    t.is(rig.outbox.dropped.refused, 0);
    rig.answer = () => ({ status: 200 });
    await rig.empty(11 * MINUTE);
    t.deepEqual(rig.numbers, upTo(240));
    t.is(rig.host.lines.filter((line) => line.startsWith("error")).length, 1);
  });

test("in an outage one probe goes out a minute at most, and attempts come ever more slowly, up to 10 min", async (t) => {
  const rig = new TelemetryRig().start().record(0, 10);
  const at: number[] = [];
  const posts: number[] = [];
  rig.answer = (elements) => {
    (isProbe(elements) ? at : posts).push(rig.host.clock.now());
    return { status: 400 };
  };
  await rig.host.clock.advance(6 * 60 * MINUTE);
  t.true(at.length > 10);
  t.true(at.every((when, i) => i === 0 || when - at[i - 1]! >= MINUTE));
  t.true(posts.length < 110, `${posts.length} in 6 h`);
  t.is(rig.outbox.waiting, 10);
});

test("a poison point in every sample is condemned, one by one, and its neighbours arrive in order", async (t) => {
  const rig = new TelemetryRig().start();
  rig.answer = (elements) => ({
    status: elements.some(({ values }) => Number(values.n) % 3 === 1) ? 400 : 200,
  });
  rig.record(0, 60);
  await rig.empty(10 * MINUTE);
  t.deepEqual(
    rig.numbers,
    upTo(60).filter((n) => n % 3 !== 1),
  );
  t.is(rig.outbox.dropped.refused, 20);
});

test("a poison point that is alone is condemned, though later ones are recorded while it is judged", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 0 }).start();
  rig.answer = (elements) => {
    if (rig.outbox.next < 5) rig.record(rig.outbox.next, rig.outbox.next + 1);
    return { status: elements.some(({ values }) => values.n === 0) ? 400 : 200 };
  };
  rig.record(0, 1);
  await rig.host.clock.advance(20_000);
  t.deepEqual(rig.numbers, upTo(5, 1));
  t.is(rig.outbox.dropped.refused, 1);
  t.is(probes(rig).length, 2);
});

test("a probe that is accepted more than 10 s after the refusal condemns nothing: the point is sent again", async (t) => {
  const rig = new TelemetryRig().start();
  let slow = true;
  rig.answer = (elements) => {
    if (!isProbe(elements)) return { status: slow ? 400 : 200 };
    if (!slow) return { status: 200 };
    slow = false;
    return { status: 503, headers: { "Retry-After": "11" } };
  };
  rig.record(0, 1);
  await rig.empty(MINUTE);
  t.deepEqual(rig.numbers, [0]);
  t.is(rig.outbox.dropped.refused, 0);
});

test("one key that gets 413 by itself is left out as TOO_LARGE, and the others of its point arrive", async (t) => {
  const rig = new TelemetryRig().start();
  rig.answer = (_, body) => ({ status: body.includes("xxxx") ? 413 : 200, body: "" });
  rig.telemetry.record({ a: 1, b: 2, big: "x".repeat(500), c: 3 });
  rig.record(1, 3);
  await rig.empty(10 * MINUTE);
  const values = Object.assign({}, ...rig.taken.map((one) => one.values));
  t.like(values, { a: 1, b: 2, c: 3, n: 2 });
  t.false("big" in values);
  t.is(rig.outbox.dropped.refused, 1);
  t.is(
    rig.delivered.reduce((sum, points) => sum + points, 0),
    2,
  );
  t.true(rig.errors.includes("TOO_LARGE"));
});

test("413 to everything is an outage, whatever it is cut to", async (t) => {
  const rig = new TelemetryRig().start();
  rig.answer = () => ({ status: 413, body: "" });
  for (let n = 0; n < 5; n++) rig.telemetry.record({ n, a: 1, b: 2, c: 3 });
  await rig.host.clock.advance(10 * MINUTE);
  t.is(rig.outbox.waiting, 5);
  t.is(rig.outbox.dropped.refused, 0);
});

test("the one point that waits from an earlier run is delivered, not counted as refused", async (t) => {
  const blocks = new FakeFlash(4 * 4096, 4096);
  new TelemetryRig({ durable: true }, { blocks }).telemetry.record({ n: 0 });
  const rig = new TelemetryRig({ durable: true }, { blocks }).start();
  await rig.empty(MINUTE);
  t.deepEqual(rig.numbers, [0]);
  t.deepEqual(rig.delivered, [1]);
  t.is(rig.outbox.drops, 0);
});

test("an outage is reported once, and the next not within an hour of it", async (t) => {
  const host = fakeHost();
  const refusals = new RefusalPolicy(host, new BatchLimit(50));
  const outage = (): number => {
    refusals.wait();
    refusals.wait();
    refusals.passed();
    return host.lines.splice(0).length;
  };
  t.is(outage(), 1);
  await host.clock.advance(60 * MINUTE - 1);
  t.is(outage(), 0);
  await host.clock.advance(1);
  t.is(outage(), 1);
});
