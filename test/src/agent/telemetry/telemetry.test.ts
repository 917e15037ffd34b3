import test from "ava";
import { roomOf } from "../../../../src/agent/queue/outbox.js";
import { type Batch, BatchWriter } from "../../../../src/agent/telemetry/batch.js";
import { BatchLimit } from "../../../../src/agent/telemetry/batch-limit.js";
import { MoteError } from "../../../../src/errors.js";
import { Agent } from "../../../../src/index.js";
import { HEAD_ROOM } from "../../../../src/platform/requests.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";
import { FakeNet } from "../../../fakes/net.js";
import { FakePlatform } from "../../../fakes/platform.js";
import { at } from "../../../fakes/time.js";
import { TelemetryRig, upTo } from "./rig.js";

test("a point leaves after the batch age as one object with its time stamp", async (t) => {
  const rig = new TelemetryRig().start();
  let body = "";
  rig.answer = (_, text) => {
    body = text;
    return { status: 200 };
  };
  rig.telemetry.record({ temperature: 21.5 });
  await rig.host.clock.advance(990);
  t.is(body, "");
  await rig.empty(1000);
  t.is(body, `{"ts":${Date.UTC(2026, 0, 1)},"values":{"temperature":21.5}}`);
  t.deepEqual(rig.delivered, [1]);
});

test("a full batch leaves at once", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 3, batchAgeMs: 60_000 }).start().record(0, 3);
  await rig.empty(500);
  t.deepEqual(rig.log, ["POST 3 -> 200"]);
});

test("a batch is full by its bytes too", async (t) => {
  const rig = new TelemetryRig({ batchBytes: 512, batchAgeMs: 60_000 }).start();
  for (let n = 0; n < 5; n++) rig.telemetry.record({ n, text: "x".repeat(100) });
  await rig.host.clock.advance(500);
  t.deepEqual(rig.log, ["POST 3 -> 200"]);
});

test("a time stamp of the application's is left alone", async (t) => {
  const rig = new TelemetryRig().start();
  rig.telemetry.record({ n: 1 }, { ts: 1_600_000_000_000 });
  rig.telemetry.record({ n: 2 });
  await rig.empty();
  t.deepEqual(
    rig.taken.map((element) => element.ts),
    [1_600_000_000_000, Date.UTC(2026, 0, 1)],
  );
});

test("a time stamp in seconds is refused", (t) => {
  const error = t.throws(() => new TelemetryRig().telemetry.record({ n: 1 }, { ts: 1_600_000_000 }));
  t.true(error instanceof MoteError && error.code === "BAD_VALUE");
  t.regex(error.message, /13 digits/);
});

const cycle: Record<string, unknown> = {};
cycle.inner = cycle;
const UNFIT: readonly (readonly [string, unknown, RegExp])[] = [
  ["NaN", { pressure: Number.NaN }, /^"pressure" is NaN$/],
  ["Infinity", { pressure: [Number.POSITIVE_INFINITY] }, /^"pressure"\[0\] is Infinity$/],
  ["undefined", { pressure: undefined }, /^"pressure" is undefined$/],
  ["a cycle", { pressure: cycle }, /^"pressure"\."inner" refers to itself$/],
  [
    "a key of more than 255 characters",
    { ["k".repeat(256)]: 1 },
    /^"k+\.*" is a key of more than 255 characters$/,
  ],
  ["a key with markup", { "<b>": 1 }, /^"<b>" is a key with markup$/],
  ["a key with a comma", { "a,b": 1 }, /^"a,b" is a key with a comma$/],
];
for (const [what, values, reason] of UNFIT) {
  test(`record refuses ${what} with a sentence that names it, and keeps nothing`, (t) => {
    const rig = new TelemetryRig();
    const error = t.throws(() => rig.telemetry.record(values as Record<string, unknown>));
    t.true(error instanceof MoteError && error.code === "BAD_VALUE");
    t.regex(error.message, reason);
    t.is(rig.outbox.waiting, 0);
  });
}

test("a point that fits in no request is refused", (t) => {
  const rig = new TelemetryRig({ batchBytes: 512 });
  const error = t.throws(() => rig.telemetry.record({ text: "é".repeat(250) }));
  t.true(error instanceof MoteError && error.code === "TOO_LARGE");
  t.is(rig.outbox.waiting, 0);
  t.true(rig.telemetry.record({ text: "x".repeat(rig.outbox.maxText - 20) }));
});

test("with the platform's time stamps a batch is an array of bare objects, and no key is in it twice", async (t) => {
  const rig = new TelemetryRig({ timestamps: "platform" }).start();
  const bodies: string[] = [];
  rig.answer = (_, body) => {
    bodies.push(body);
    return { status: 200 };
  };
  for (const values of [{ a: 1 }, { b: 2, c: 'a":1' }, { a: 3 }]) rig.telemetry.record(values);
  rig.telemetry.record({ a: 4 }, { ts: 1_600_000_000_000 });
  await rig.empty();
  t.deepEqual(bodies, ['[{"a":1},{"b":2,"c":"a\\":1"}]', '[{"a":3},{"ts":1600000000000,"values":{"a":4}}]']);
});

test("flush sends at once and is true when all is delivered", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 60_000 }).start().record(0, 3);
  const flushed = rig.telemetry.flush(5000);
  await rig.host.clock.advance(100);
  t.true(await flushed);
  t.deepEqual(rig.numbers, upTo(3));
});

test("flush is false when the platform does not answer in time, and when nobody sends", async (t) => {
  const rig = new TelemetryRig().record(0, 3);
  t.false(await rig.telemetry.flush(5000));
  rig.start().answer = () => undefined;
  const flushed = rig.telemetry.flush(5000);
  await rig.host.clock.advance(5001);
  t.false(await flushed);
  t.is(rig.outbox.waiting, 3);
});

test("stop ends the loop and an open flush, and keeps what waits", async (t) => {
  const rig = new TelemetryRig().start().record(0, 3);
  rig.answer = () => undefined;
  const flushed = rig.telemetry.flush(60_000);
  await rig.host.clock.advance(100);
  rig.session.stop();
  await rig.ended();
  t.false(await flushed);
  rig.answer = () => ({ status: 200 });
  rig.start();
  await rig.empty();
  t.deepEqual(rig.numbers, upTo(3));
});

test("a lost answer leads to the same points with the same time stamps again", async (t) => {
  const rig = new TelemetryRig().start().record(0, 5);
  const bodies: string[] = [];
  rig.answer = (_, body) => {
    bodies.push(body);
    return bodies.length === 1 ? undefined : { status: 200 };
  };
  await rig.host.clock.runUntil(() => bodies.length > 0);
  await rig.empty();
  t.true(bodies.length > 1);
  const sent = (body: string) => ([] as unknown[]).concat(JSON.parse(body));
  t.deepEqual(sent(bodies[0]!), bodies.slice(1).flatMap(sent));
});

test("an empty 500 never drops: the batch is halved until it passes", async (t) => {
  const rig = new TelemetryRig().record(0, 50).start();
  rig.answer = (elements) => ({ status: elements.length > 10 ? 500 : 200 });
  await rig.empty();
  t.deepEqual(rig.numbers, upTo(50));
  t.deepEqual(rig.log.slice(0, 4), ["POST 50 -> 500", "POST 25 -> 500", "POST 12 -> 500", "POST 6 -> 200"]);
  t.deepEqual(rig.drops, []);
});

test("a point with more keys than the platform's bucket holds is sent in parts with one time stamp", async (t) => {
  const rig = new TelemetryRig().start();
  rig.answer = (elements) => ({
    status: elements.reduce((sum, one) => sum + Object.keys(one.values).length, 0) > 5 ? 500 : 200,
  });
  const values: Record<string, unknown> = {};
  for (let i = 0; i < 11; i++) values[`k${i}`] = i % 2 ? [i, { a: "},{" }] : `v,"${i}`;
  rig.telemetry.record(values);
  await rig.empty();
  t.deepEqual(Object.assign({}, ...rig.taken.map((one) => one.values)), values);
  t.is(new Set(rig.taken.map((one) => one.ts)).size, 1);
  t.deepEqual(rig.delivered, [1]);
});

test("when a point sent in parts is dropped between them, the next begins with its first key", async (t) => {
  const rig = new TelemetryRig({ bufferBytes: 1024 }).start();
  const values = (n: number) => ({ n, a: n, b: n, c: n });
  rig.answer = (elements) => {
    const keys = elements.flatMap((one) => Object.keys(one.values));
    if (keys.length > 2) return { status: 500 };
    // The first half is taken; while the second is on its way, the point is pushed out of the outbox.
    if (keys.includes("b") && rig.outbox.dropped.full === 0) {
      for (let n = 1; n < 60; n++) rig.telemetry.record(values(n));
      return { status: 500 };
    }
    return { status: 200 };
  };
  rig.telemetry.record(values(0));
  await rig.empty();
  const kept = 60 - rig.outbox.dropped.full;
  t.true(kept < 59);
  t.is(rig.taken.filter((one) => "n" in one.values && one.values.n !== 0).length, kept);
});

test("when nothing can be made smaller the agent waits longer and longer", async (t) => {
  const rig = new TelemetryRig().start().record(0, 1);
  rig.answer = () => ({ status: 500 });
  await rig.host.clock.advance(600_000);
  t.true(rig.log.length > 5 && rig.log.length < 40, `${rig.log.length} requests in 10 min`);
  rig.answer = () => ({ status: 200 });
  await rig.empty();
  t.deepEqual(rig.numbers, [0]);
});

test("Retry-After is obeyed", async (t) => {
  const rig = new TelemetryRig({ batchAgeMs: 0 }).start().record(0, 2);
  rig.answer = () => ({ status: 429, headers: { "Retry-After": "90" } });
  await rig.host.clock.advance(80_000);
  t.is(rig.log.length, 1);
  rig.answer = () => ({ status: 200 });
  await rig.empty(20_000);
  t.deepEqual(rig.numbers, upTo(2));
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
  t.deepEqual(
    rig.taken.map((one) => one.ts),
    [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_002],
  );
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

test("with the platform's time stamps a report of drops has none of the device's either", async (t) => {
  const rig = new TelemetryRig({ bufferBytes: 1024, timestamps: "platform" }).record(0, 100);
  const lost = 100 - rig.outbox.waiting;
  rig.start();
  await rig.empty();
  await rig.host.clock.advance(1000);
  const reports = rig.taken.filter(({ values }) => "moteDroppedFull" in values);
  t.deepEqual(reports, [{ values: { moteDroppedFull: lost } }]);
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

test("an address that is right now and then is reported once an hour", async (t) => {
  const rig = new TelemetryRig().start();
  let asked = 0;
  rig.answer = () => ({ status: asked++ % 2 ? 200 : 404 });
  for (let n = 0; n < 60; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(100_000);
  }
  t.deepEqual(rig.numbers, upTo(60));
  t.is(rig.host.lines.filter((line) => line.includes("check the base URL")).length, 2);
});

// How much goes in one request after a platform took less, or refused.

/** A batch of so many points, or of these keys of one. */
const batch = (points: number, keys = 0, fromKey = 0, toKey = keys): Batch => ({
  points,
  keys,
  fromKey,
  toKey,
  number: 0,
  body: new Uint8Array(),
  guessed: 0,
});

test("a platform that is busy gets half of it, and a quarter more after each fourth request that passes", (t) => {
  const limit = new BatchLimit(100);
  t.true(limit.shrink(batch(100), true));
  t.is(limit.points, 50);
  const points = Array.from({ length: 16 }, () => {
    limit.done(batch(limit.points));
    return limit.points;
  });
  t.deepEqual(points, [50, 50, 50, 63, 63, 63, 63, 79, 79, 79, 79, 99, 99, 99, 99, 100]);
});

test("what is refused for its content is looked for by halves, and behind it the batches are soon whole", (t) => {
  const limit = new BatchLimit(100);
  t.true(limit.shrink(batch(3), false));
  t.is(limit.points, 1);
  t.false(limit.shrink(batch(1, 5), false));
  const points = Array.from({ length: 8 }, () => {
    limit.done(batch(limit.points));
    return limit.points;
  });
  t.deepEqual(points, [2, 4, 8, 16, 32, 64, 100, 100]);
});

test("a point that is too large goes by half of its keys, down to one, and then by more of them again", (t) => {
  const limit = new BatchLimit(100);
  t.true(limit.shrink(batch(1, 9), true));
  t.is(limit.keys, 5);
  t.true(limit.shrink(batch(1, 9, 0, 2), true));
  t.is(limit.keys, 1);
  t.false(limit.shrink(batch(1, 9, 0, 1), true));
  for (let i = 0; i < 4; i++) limit.done(batch(1, 9, 0, 1));
  t.is(limit.keys, 2);
  // As many as the point has: from then on whole points go.
  limit.keys = 9;
  for (let i = 0; i < 4; i++) limit.done(batch(1, 9));
  t.is(limit.keys, Number.POSITIVE_INFINITY);
  t.is(limit.points, 2);
});

// The body of a request, byte for byte.

const AT = 100;
const TS = 1_700_000_000_998;

function writer(limit: number, apart = false): { writer: BatchWriter; memory: Uint8Array } {
  const memory = new Uint8Array(AT + roomOf(limit) + 50).fill(0x2e);
  return { writer: new BatchWriter(memory, AT, limit, apart), memory };
}

/** Adds the points that fit, from bytes of their own or from those that the body lies in. */
function bodyOf(texts: readonly string[], ts: number | undefined, limit = 1000, within = false): string {
  const { writer: into, memory } = writer(limit);
  into.begin();
  for (const [index, text] of texts.entries()) {
    const bytes = Buffer.from(text);
    const from = within ? memory : Buffer.concat([Buffer.from("..."), bytes]);
    const start = within ? 7 : 3;
    if (within) memory.set(bytes, start);
    if (!into.add(from, start, start + bytes.length, ts === undefined ? undefined : at(ts + index))) break;
  }
  const body = into.body();
  const end = AT + roomOf(limit);
  if (memory.subarray(end).some((byte) => byte !== 0x2e)) throw new Error("it wrote beyond its end");
  if (body.byteOffset - HEAD_ROOM < AT) throw new Error("there is no room before the body");
  return Buffer.from(body).toString();
}

for (const within of [false, true]) {
  const where = within ? "within the bytes of the body" : "in bytes of their own";
  test(`points ${where} leave as an object or an array of objects`, (t) => {
    t.is(bodyOf(['{"a":1}'], TS, 1000, within), `{"ts":${TS},"values":{"a":1}}`);
    t.is(
      bodyOf(['{"a":1}', '{"b":"ü"}', '{"c":3}'], TS, 1000, within),
      `[{"ts":${TS},"values":{"a":1}},{"ts":${TS + 1},"values":{"b":"ü"}},{"ts":${TS + 2},"values":{"c":3}}]`,
    );
    t.is(bodyOf(['{"a":1}'], undefined, 1000, within), '{"a":1}');
    t.is(bodyOf(['{"a":1}', '{"b":2}'], undefined, 1000, within), '[{"a":1},{"b":2}]');
  });
}

test("a body is as long as its limit at most, and so long if its points are", (t) => {
  const texts = Array.from({ length: 40 }, (_, i) => `{"a":${100 + i}}`);
  for (const ts of [undefined, TS]) {
    const one = ts === undefined ? '{"a":100},'.length : `{"ts":${TS},"values":{"a":100}},`.length;
    for (const points of [2, 7, 20]) {
      const exact = 1 + points * one;
      t.is(JSON.parse(bodyOf(texts, ts, exact)).length, points);
      t.is(bodyOf(texts, ts, exact).length, exact);
      t.is([JSON.parse(bodyOf(texts, ts, exact - 1))].flat().length, points - 1);
    }
  }
});

test("of one point some keys leave, as an object with the same time stamp", (t) => {
  const { writer: into } = writer(1000);
  const text = Buffer.from('{"a":1,"b":{"c":[1,2]},"d":"x,y"}');
  const cut = (from: number, most: number, ts: number | undefined): string => {
    into.cut(text, 0, text.length, ts === undefined ? undefined : at(ts), from, most);
    return Buffer.from(into.body()).toString();
  };
  t.is(cut(0, 1, TS), `{"ts":${TS},"values":{"a":1}}`);
  t.is(cut(1, 2, TS + 1), `{"ts":${TS + 1},"values":{"b":{"c":[1,2]},"d":"x,y"}}`);
  t.is(cut(1, 1, undefined), '{"b":{"c":[1,2]}}');
  t.is(cut(0, 9, undefined), '{"a":1,"b":{"c":[1,2]},"d":"x,y"}');
});

// 1,000 points recorded in one tick, as they are on the platform afterwards.

const POINTS = 1000;
const SECTORS = 16;
const NOW = Date.UTC(2026, 0, 1);
/** More than the points take: without blocks all of them wait in memory. */
const BUFFER_BYTES = 65_536;

const PLACES = [
  ["on flash at once", SECTORS, true],
  ["on flash later", SECTORS, false],
  ["in memory", 0, false],
] as const;

for (const timestamps of ["device", "platform"] as const) {
  // All have the same key: of points without a time stamp of their own each is a request.
  const requests = timestamps === "device" ? POINTS / 50 : POINTS;
  for (const [place, sectors, durable] of PLACES) {
    test(`1,000 points in one tick, ${place}, with time stamps of the ${timestamps}: 1,000 points in order, in ${requests} requests`, async (t) => {
      const clock = new FakeClock(NOW);
      const net = new FakeNet(clock);
      const platform = new FakePlatform(clock, net);
      const device = platform.create("burst", "T1");
      const host = fakeHost({ clock, network: net, blocks: new FakeFlash(sectors * 4096, 4096) });
      const telemetry = { timestamps, durable, ...(sectors === 0 && { bufferBytes: BUFFER_BYTES }) };
      const agent = new Agent(host, { baseUrl: "http://platform.test", token: "T1", telemetry });
      agent.start();
      await clock.advance(5000);
      for (let n = 0; n < POINTS; n++) t.true(agent.telemetry.record({ n }));
      await clock.advance(60_000);
      const points = platform.points(device, "n");
      t.deepEqual(
        points.map(({ value }) => value),
        upTo(POINTS),
      );
      t.is(new Set(points.map(({ ts }) => ts)).size, POINTS);
      if (timestamps === "device") t.deepEqual([points[0]!.ts, points.at(-1)!.ts], [NOW + 5000, NOW + 5999]);
      t.is(platform.seen.filter(({ path }) => path.endsWith("/telemetry")).length, requests);
      const stopped = agent.stop();
      await clock.advance(0);
      await stopped;
    });
  }
}

// A platform that takes less than is recorded: what the device says of it.

const lines = (rig: TelemetryRig) => rig.host.lines.filter((line) => line.includes("delivery"));

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
  test(`limits (${status}) that let less through than comes: said once after a minute, and once when it has caught up`, async (t) => {
    const rig = new TelemetryRig({ batchPoints: 4 }).start();
    let everyMs = 30_000;
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
    t.is(rig.pace.length, 1);
    t.true(rig.pace[0]?.behind);
    t.true((rig.pace[0]?.points ?? 0) > 20);
    await record(600);
    t.is(rig.pace.length, 1);
    everyMs = 0;
    await record(400);
    t.deepEqual(
      rig.pace.map(({ behind }) => behind),
      [true, false],
    );
    t.is(lines(rig).length, 2);
    everyMs = 30_000;
    await record(300);
    t.is(rig.pace.length, 3);
  });

test("a limit now and then that slows nothing down for a minute is not worth a word", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  let requests = 0;
  rig.answer = () => ({ status: ++requests % 10 === 0 ? 429 : 200 });
  for (let n = 0; n < 600; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(1000);
  }
  t.true(rig.log.some((line) => line.includes("429")));
  t.deepEqual(rig.pace, []);
  t.deepEqual(lines(rig), []);
});

test("points that were dropped meanwhile are not taken for delivered: it has not caught up by losing them", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4, bufferBytes: 2048, batchBytes: 1024 }).start();
  limited(rig, () => 20_000);
  for (let n = 0; n < 1200; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(500);
  }
  t.true(rig.drops.length > 0);
  t.deepEqual(
    rig.pace.map(({ behind }) => behind),
    [true],
  );
});

test("an outage is reported as an outage, and a stop ends the wait", async (t) => {
  const rig = new TelemetryRig().start();
  let busy = true;
  rig.answer = () => (busy ? { status: 429 } : undefined);
  rig.record(0, 1);
  await rig.host.clock.runUntil(() => rig.log.length > 0);
  busy = false;
  await rig.host.clock.advance(300_000);
  t.deepEqual(rig.pace, []);
  t.false(rig.session.online);
  busy = true;
  await rig.host.clock.runUntil(() => rig.log.at(-1)?.includes("429") === true, 600_000);
  rig.session.stop();
  await rig.ended();
  await rig.host.clock.advance(120_000);
  t.deepEqual(rig.pace, []);
});

test("a stop between the two: that it has caught up is said by the next start", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  limited(rig, () => 30_000);
  for (let n = 0; n < 120; n++) {
    rig.record(n, n + 1);
    await rig.host.clock.advance(1000);
  }
  t.is(rig.pace.length, 1);
  rig.session.stop();
  await rig.ended();
  rig.answer = () => ({ status: 200 });
  rig.start();
  await rig.empty();
  await rig.host.clock.advance(0);
  t.deepEqual(
    rig.pace.map(({ behind }) => behind),
    [true, false],
  );
});

test("once nothing waits any more delivery has caught up, however late the last of it came", async (t) => {
  const rig = new TelemetryRig({ batchPoints: 4 }).start();
  rig.answer = () => ({ status: 503 });
  rig.record(0, 4);
  await rig.host.clock.advance(100_000);
  t.deepEqual(
    rig.pace.map(({ behind }) => behind),
    [true],
  );
  rig.answer = () => ({ status: 200 });
  await rig.empty();
  t.deepEqual(rig.pace.at(-1), { behind: false, points: 0 });
});
