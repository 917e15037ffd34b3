import test from "ava";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore } from "../../../fakes/host.js";
import { at } from "../../../fakes/time.js";
import { type Element, TelemetryRig, upTo } from "./rig.js";

test("a point leaves after the batch age as one object with its time stamp", async (t) => {
  const rig = new TelemetryRig().start();
  rig.telemetry.record({ temperature: 21.5 });
  await rig.host.clock.advance(990);
  t.deepEqual(rig.bodies, []);
  await rig.empty(1000);
  t.deepEqual(rig.bodies, [`{"ts":${Date.UTC(2026, 0, 1)},"values":{"temperature":21.5}}`]);
  t.deepEqual(rig.delivered, [1]);
});

test("a batch that is full, by its points or its bytes, leaves at once", async (t) => {
  for (const [options, text] of [
    [{ batchPoints: 3, batchAgeMs: 60_000 }, ""],
    [{ batchBytes: 512, batchAgeMs: 60_000 }, "x".repeat(100)],
  ] as const) {
    const rig = new TelemetryRig(options).start();
    for (let n = 0; n < 5; n++) rig.telemetry.record({ n, text });
    await rig.host.clock.advance(500);
    const ts = Date.UTC(2026, 0, 1);
    const points = [0, 1, 2].map((n) => ({ ts: ts + n, values: { n, text } }));
    t.deepEqual(rig.bodies, [JSON.stringify(points)]);
  }
});

test("1,000 points of one tick arrive in order, each with its own time stamp, in batches", async (t) => {
  const rig = new TelemetryRig({ bufferBytes: 65_536 }).start().record(0, 1000);
  await rig.empty();
  t.deepEqual(rig.numbers, upTo(1000));
  t.deepEqual([rig.taken[0]?.ts, rig.taken.at(-1)?.ts], [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 999]);
  t.is(rig.log.length, 20);
});

test("a time stamp of the application's is left alone", async (t) => {
  const rig = new TelemetryRig().start();
  rig.telemetry.record({ n: 1 }, { ts: 1_600_000_000_000 });
  rig.telemetry.record({ n: 2 });
  await rig.empty();
  const stamps = rig.taken.map((element) => element.ts);
  t.deepEqual(stamps, [1_600_000_000_000, Date.UTC(2026, 0, 1)]);
});

test("record throws only for mistakes of programming, and keeps nothing then", (t) => {
  const rig = new TelemetryRig({ batchBytes: 512 });
  for (const [values, options] of [
    [{ n: 1 }, { ts: 1_600_000_000 }],
    [{ n: 1 }, { ts: Number.NaN }],
    [null, {}],
    [[1], {}],
    ["text", {}],
    [new Date(), {}],
    [{ ts: 1, values: { n: 1 } }, {}],
  ] as const)
    t.throws(() => rig.telemetry.record(values as never, options), { name: "MoteError", code: "BAD_VALUE" });
  t.is(rig.outbox.waiting, 0);
  t.true(rig.telemetry.record({ text: "x".repeat(rig.outbox.maxText - 20) }));
});

test("a bad value is left out, counted and logged once; the good ones are recorded", async (t) => {
  const rig = new TelemetryRig({ batchBytes: 512 }).start();
  const { counters } = rig.session;
  const lines = () => rig.host.lines.filter((line) => line.includes("left out of a point"));
  for (let n = 0; n < 5; n++) t.true(rig.telemetry.record({ n, t: NaN, deep: { p: null } }));
  t.true(rig.telemetry.record({ n: 5, text: "é".repeat(250) }));
  t.deepEqual([counters.leftOut, counters.emptyPoints], [11, 0]);
  t.is(lines().length, 3, `${rig.host.lines}`);
  t.regex(`${lines()}`, /"t" is NaN.*"deep"\."p" is null.*"text" is too large/s);
  for (const values of [{}, { t: NaN }, { "a,b": 1 }, { text: "é".repeat(250) }, { list: [undefined] }])
    t.false(rig.telemetry.record(values));
  t.deepEqual([counters.leftOut, counters.emptyPoints], [15, 5]);
  await rig.empty();
  t.deepEqual(
    rig.taken.map(({ values }) => values),
    Array.from({ length: 6 }, (_, n) => ({ n })),
  );
});

test("with the platform's time stamps each point is a bare object in a request of its own", async (t) => {
  const rig = new TelemetryRig({ timestamps: "platform" }).start();
  for (const values of [{ a: 1 }, { b: 2, c: "x" }]) rig.telemetry.record(values);
  rig.telemetry.record({ a: 4 }, { ts: 1_600_000_000_000 });
  await rig.empty();
  const sent = ['{"a":1}', '{"b":2,"c":"x"}', '{"ts":1600000000000,"values":{"a":4}}'];
  t.deepEqual(rig.bodies, sent);
});

test("flush sends at once, and says what happened at the end, the time-out or a stop", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 60_000 }).record(0, 3);
  const still = { delivered: 0, dropped: 0, waiting: 3 };
  t.deepEqual(await rig.telemetry.flush({ timeoutMs: 5000 }), still, "nobody sends");
  rig.start().answer = () => undefined;
  t.deepEqual(await rig.host.clock.untilSettled(rig.telemetry.flush({ timeoutMs: 5000 }), 5001), still);
  const stopped = rig.telemetry.flush({ timeoutMs: 60_000 });
  await rig.host.clock.advance(100);
  rig.session.stop();
  await rig.ended();
  t.deepEqual(await stopped, still);
  t.is(rig.outbox.waiting, 3);
  rig.answer = () => ({ status: 200 });
  rig.start();
  t.deepEqual(await rig.host.clock.untilSettled(rig.telemetry.flush({ timeoutMs: 5000 }), 100), {
    ...{ delivered: 3, dropped: 0, waiting: 0 },
  });
  t.deepEqual(rig.numbers, upTo(3));
});

test("flush tells refused points from delivered ones, and counts none that came later", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 60_000 }).record(0, 5).start();
  rig.answer = (elements) => ({
    status: elements.some(({ values }) => values.n === 2) ? 400 : 200,
  });
  const flushed = rig.telemetry.flush({ timeoutMs: 60_000 });
  rig.record(5, 8);
  t.deepEqual(await rig.host.clock.untilSettled(flushed, 60_000), { delivered: 4, dropped: 1, waiting: 0 });
  t.false(rig.numbers.includes(2));
});

test("an empty 500 never drops: the batch is halved until it passes", async (t) => {
  const rig = new TelemetryRig().record(0, 50).start();
  rig.answer = (elements) => ({ status: elements.length > 10 ? 500 : 200 });
  await rig.empty();
  t.deepEqual(rig.numbers, upTo(50));
  t.deepEqual(rig.log.slice(0, 4), ["POST 50 -> 500", "POST 25 -> 500", "POST 12 -> 500", "POST 6 -> 200"]);
  t.deepEqual(rig.drops, []);
});

const keysOf = (elements: Element[]) =>
  elements.reduce((sum, one) => sum + Object.keys(one.values).length, 0);

test("a point with more keys than the rate limit allows is dropped, counted and blocks no other", async (t) => {
  const rig = new TelemetryRig().record(0, 1).start();
  rig.answer = (elements) => ({ status: keysOf(elements) > 5 ? 500 : 200 });
  rig.telemetry.record(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, i])));
  rig.record(1, 20);
  await rig.empty(3_600_000);
  t.deepEqual(rig.numbers, upTo(20));
  t.deepEqual(rig.drops, [{ points: 1, reason: "refused" }]);
  t.is(rig.outbox.dropped.refused, 1);
});

for (const status of [408, 502, 503, 504])
  test(`a point that keeps the platform from answering (${status}) is dropped, and blocks no other`, async (t) => {
    const rig = new TelemetryRig().record(0, 20).start();
    rig.answer = (elements) => ({
      status: elements.some(({ values }) => values.n === 7) ? status : 200,
    });
    await rig.empty(3_600_000);
    t.deepEqual(
      rig.numbers,
      upTo(20).filter((n) => n !== 7),
    );
    t.is(rig.outbox.dropped.refused, 1);
  });

for (const status of [408, 500, 502, 503, 504])
  test(`an empty ${status} to all single points for hours drops none`, async (t) => {
    const rig = new TelemetryRig().record(0, 20).start();
    let isDown = true;
    rig.answer = () => ({ status: isDown ? status : 200 });
    await rig.host.clock.advance(4 * 3_600_000);
    isDown = false;
    await rig.empty(3_600_000);
    t.deepEqual(rig.numbers, upTo(20));
    t.deepEqual(rig.drops, []);
  });

test("a point that met a busy server before an outage and after it is not dropped", async (t) => {
  const rig = new TelemetryRig().record(0, 1).start();
  const { net, clock } = rig.host;
  const serve = net.onConnect;
  let refusals = 1;
  rig.answer = (elements) => {
    if (!elements.some(({ values }) => values.n === 0) || refusals-- <= 0) return { status: 200 };
    return { status: 503, headers: { Connection: "close" } };
  };
  net.onConnect = (peer) => {
    if (refusals > 0 || clock.now() > 20 * 60_000) return serve?.(peer);
    peer.reset("connection refused");
    return false;
  };
  await clock.advance(20 * 60_000);
  t.deepEqual([rig.numbers, refusals], [[], 0]);
  refusals = 2;
  await rig.empty(3_600_000);
  t.deepEqual(rig.numbers, [0]);
  t.is(rig.outbox.dropped.refused, 0);
});

test("a point that passes right after an accepted probe is not dropped", async (t) => {
  const rig = new TelemetryRig().record(0, 3).start();
  let probes = 0;
  rig.answer = (elements) => {
    const isProbe = elements.some((one) => "moteDroppedRefused" in one.values);
    if (isProbe) probes++;
    return { status: probes > 0 ? 200 : 500 };
  };
  await rig.empty(3_600_000);
  t.is(probes, 1);
  t.deepEqual(rig.numbers, upTo(3));
  t.deepEqual(rig.drops, []);
});

for (const [status, body] of [
  [400, ""],
  [500, "Can't parse value: 5"],
  [413, '"Payload size exceeds the limit of 10 bytes"'],
] as const) {
  test(`the one point that the platform refuses with ${status} is found, dropped and reported`, async (t) => {
    const rig = new TelemetryRig().record(0, 20).start();
    rig.answer = (elements) =>
      elements.some((one) => one.values.n === 13) ? { status, body } : { status: 200 };
    await rig.empty();
    await rig.host.clock.advance(61_000);
    t.deepEqual(
      rig.numbers,
      upTo(20).filter((n) => n !== 13),
    );
    t.deepEqual(rig.drops, [{ points: 1, reason: "refused" }]);
    t.is(rig.outbox.dropped.refused, 1);
    t.is(rig.taken.findLast((one) => "moteDroppedRefused" in one.values)?.values.moteDroppedRefused, 1);
    t.is(rig.host.lines.filter((line) => line.includes("rejected their content")).length, 1);
  });
}

test("404 is a wrong address: all is kept, and it is said once", async (t) => {
  const rig = new TelemetryRig().record(0, 5).start();
  rig.answer = () => ({ status: 404 });
  await rig.host.clock.advance(3_600_000);
  t.is(rig.outbox.waiting, 5);
  t.is(rig.host.lines.filter((line) => line.includes("404")).length, 1);
});

test("points wait for the time, and get time stamps of when they were recorded", async (t) => {
  const rig = new TelemetryRig({}, { wall: undefined }).start().record(0, 3);
  await rig.host.clock.advance(10_000);
  t.deepEqual(rig.log, []);
  rig.time.learn(at(1_700_000_010_000));
  await rig.empty(5000);
  const stamps = rig.taken.map((one) => one.ts);
  t.deepEqual(stamps, [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_002]);
});

test("drops for want of room are logged once a burst and reported when the line is back", async (t) => {
  const rig = new TelemetryRig({ bufferBytes: 1024 }).record(0, 100);
  const lost = 100 - rig.outbox.waiting;
  t.is(rig.host.clock.waiting, 1);
  await rig.host.clock.advance(2000);
  t.deepEqual(rig.drops, [{ points: lost, reason: "full" }]);
  rig.start();
  await rig.empty();
  await rig.host.clock.advance(1000);
  t.deepEqual(rig.numbers, upTo(100, lost));
  t.deepEqual(rig.taken.at(-1)?.values, { moteDroppedFull: lost });
  await rig.host.clock.advance(20_000);
  rig.record(100, 101);
  await rig.empty();
  await rig.host.clock.advance(1000);
  t.deepEqual(rig.taken.at(-1)?.values, { n: 100 });
});

test("a drop right after a report is reported too, though nothing else is to be sent", async (t) => {
  const rig = new TelemetryRig().record(13, 14).start();
  rig.answer = (elements) =>
    elements.some((one) => one.values.n === 13) ? { status: 400, body: "" } : { status: 200 };
  await rig.empty();
  await rig.host.clock.advance(2000);
  t.deepEqual(rig.taken.at(-1)?.values, { moteDroppedRefused: 1 });
  rig.record(13, 14);
  await rig.empty();
  await rig.host.clock.advance(12_000);
  t.deepEqual(rig.taken.at(-1)?.values, { moteDroppedRefused: 2 });
  const requests = rig.log.length;
  await rig.host.clock.advance(3_600_000);
  t.is(rig.log.length, requests);
});

// A platform that takes less than is recorded: what the device says of it.

/** Whether delivery fell behind, as each report of it says. */
const behind = (rig: TelemetryRig) => rig.pace.map(({ behind }) => behind);

/** A platform that takes a batch every `everyMs`, and answers `status` to all others. */
function limited(rig: TelemetryRig, everyMs: () => number, status = 429): void {
  let next = 0;
  rig.answer = () => {
    const now = rig.host.clock.now();
    if (now < next) return { status };
    next = now + everyMs();
    return { status: 200 };
  };
}

for (const status of [429, 500, 503])
  test(`limits (${status}) that are too low are reported once, and once when it has caught up`, async (t) => {
    const rig = new TelemetryRig({ batchPoints: 4 }).start();
    let everyMs = 20_000;
    limited(rig, () => everyMs, status);
    let n = 0;
    const record = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        rig.record(n, ++n);
        await rig.host.clock.advance(1000);
      }
    };
    await record(50);
    t.deepEqual(rig.pace, []);
    await record(70);
    t.deepEqual(behind(rig), [true]);
    t.true(rig.pace[0]!.points > 20);
    await record(600);
    t.is(rig.pace.length, 1);
    everyMs = 0;
    await record(400);
    t.deepEqual(behind(rig), [true, false]);
    t.is(rig.host.lines.filter((line) => line.includes("delivery")).length, 2);
    everyMs = 20_000;
    await record(300);
    t.deepEqual(behind(rig), [true, false, true]);
  });

test("delivery that drops points has not caught up by losing them", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4, bufferBytes: 2048, batchBytes: 1024 }).start();
  limited(rig, () => 20_000);
  for (let n = 0; n < 1200; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(500);
  }
  t.true(rig.drops.length > 0);
  t.deepEqual(behind(rig), [true]);
});

test("once nothing waits any more delivery has caught up, however late the last of it came", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  rig.answer = () => ({ status: 429 });
  rig.record(0, 4);
  await rig.host.clock.advance(100_000);
  t.deepEqual(behind(rig), [true]);
  rig.answer = () => ({ status: 200 });
  await rig.empty();
  t.deepEqual(rig.pace.at(-1), { behind: false, points: 0 });
});

test("after a stop while delivery is behind, the next start reports that it has caught up", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  rig.answer = () => ({ status: 429 });
  rig.record(0, 4);
  await rig.host.clock.advance(100_000);
  rig.session.stop();
  await rig.host.clock.advance(1000);
  await rig.ended();
  rig.answer = () => ({ status: 200 });
  rig.start();
  await rig.empty();
  t.deepEqual(behind(rig), [true, false]);
});

test("a queue that neither flash nor store shows at the start counts as at least one lost point", async (t) => {
  const blocks = new FakeFlash(8 * 4096, 4096);
  new TelemetryRig({}, { blocks }).record(0, 3).outbox.saveAll(true);
  blocks.fails = () => true;
  const rig = new TelemetryRig({}, { blocks }).start();
  rig.outbox.agentStarts(false);
  rig.record(3, 5);
  await rig.host.clock.advance(5000);
  t.deepEqual(rig.numbers, [3, 4]);
  blocks.fails = undefined;
  rig.record(5, 6);
  await rig.host.clock.advance(120_000);
  t.deepEqual(rig.numbers, [3, 4, 5]);
  t.is(rig.outbox.drops, 1);
});

test("only points of a start that never knew the time count in moteTimeGuessed", async (t) => {
  const store = new FakeStore();
  const blocks = new FakeFlash(8 * 4096, 4096);
  const blind = new TelemetryRig({}, { store, blocks, wall: undefined }).start().record(0, 2);
  await blind.host.clock.advance(2000);
  const flash = new FakeFlash(blocks.size, 4096, blocks.bytes);
  const next = new TelemetryRig({}, { store, blocks: flash, wall: undefined }).start().record(2, 5);
  await next.host.clock.advance(3000);
  t.deepEqual(next.taken, []);
  next.time.learn(at(Date.UTC(2026, 0, 1)));
  await next.host.clock.advance(20_000);
  t.deepEqual(next.numbers, [0, 1, 2, 3, 4]);
  const guessed = next.taken.map(({ values }) => values.moteTimeGuessed);
  t.deepEqual(
    guessed.filter((count) => count !== undefined),
    [2],
  );
});
