// Rate limits: what a request costs, and how a refusal shows.
import test from "ava";
import { TokenBucket } from "../../../tools/platform/core/rate-limits.js";
import { createRig, type Rig, VirtualClock } from "./rig.js";

const points = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index])));
const statuses = (rig: Rig, calls: [method: string, path: string, body?: string][]) =>
  calls.map(([method, path, body]) => rig.call(method, path, body).status);

test("a bucket fills up evenly and holds no more than its size", (t) => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket("4:1", clock);
  t.true(bucket.take(4));
  t.false(bucket.take(1));
  clock.advance(249);
  t.false(bucket.take(1));
  clock.advance(1);
  t.true(bucket.take(1));
  clock.advance(60_000);
  t.false(bucket.take(5));
  t.true(bucket.take(4));
});

test("of several limits all must hold, and a refusal takes from none", (t) => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket("2:1,3:60", clock);
  t.deepEqual([bucket.take(2), bucket.take(1)], [true, false]);
  clock.advance(1_000);
  t.deepEqual([bucket.take(2), bucket.take(1), bucket.take(1)], [false, true, false]);
});

test("a malformed limit is refused by name", (t) => {
  for (const spec of ["", "20", "0:1", "20:0", "20:1,", "-1:1", "1.5:1", "20:1;5:2"]) {
    t.throws(() => createRig({ rateLimits: { "device-points": spec } }), {
      instanceOf: RangeError,
      message: `'${spec}' is no rate limit like 20:1,600:60`,
    });
  }
});

test(`a POST above the limit is an empty 500, and the connection is closed`, (t) => {
  const rig = createRig({ rateLimits: { "device-telemetry": "1:60", "device-messages": "1:60" } });
  t.is(rig.call("POST", "telemetry", '{"a":1}').status, 200);
  for (const [path, body] of [
    ["telemetry", '{"a":2}'],
    ["attributes", '{"a":2}'],
  ] as const) {
    const { status, text, headers } = rig.call("POST", path, body);
    t.deepEqual([status, text, headers.Connection], [500, "", "close"], path);
  }
  t.deepEqual(
    statuses(rig, [
      ["POST", "rpc/0", "1"],
      ["POST", "rpc/0", "1"],
      ["POST", "claim"],
      ["POST", "telemetry", "{}"],
      ["GET", "firmware?title=a&version=1"],
    ]),
    [200, 500, 500, 500, 500],
  );
  t.is(rig.device.series.latest("a")?.value, 1n);
});

test(`a batch larger than the bucket of data points never passes, a smaller one does`, (t) => {
  const rig = createRig({ rateLimits: { "device-points": "10:1" } });
  for (let tries = 0; tries < 3; tries++) {
    t.is(rig.call("POST", "telemetry", points(11)).status, 500);
    rig.clock.advance(3_600_000);
  }
  t.is(rig.call("POST", "telemetry", points(10)).status, 200);
  rig.clock.advance(1_000);
  const list = JSON.stringify(Array.from({ length: 6 }, (_, ts) => ({ ts, values: { a: 1, b: 2 } })));
  t.is(rig.call("POST", "telemetry", list).status, 500);
});

test("what else is above the limit gets no answer until the server's limit", (t) => {
  for (const [method, path, body] of [
    ["GET", "rpc?timeout=1000"],
    ["GET", "attributes/updates?timeout=1000"],
    ["GET", "attributes"],
    ["POST", "rpc", '{"method":"getTime","params":{}}'],
  ] as const) {
    const rig = createRig({ rateLimits: { "device-messages": "1:60" } });
    t.is(rig.call("POST", "telemetry", "{}").status, 200);
    const dropped = rig.call(method, path, body);
    rig.clock.advance(29_999);
    t.is(dropped.status, undefined, path);
    rig.clock.advance(1);
    t.is(dropped.status, 503, path);
    t.is(rig.clock.waiting, 0, path);
  }
});

test("a poll above the limit takes no RPC and leaves no zombie", (t) => {
  const rig = createRig({ rateLimits: { "device-messages": "1:60" } });
  rig.call("GET", "attributes");
  rig.call("GET", "rpc?timeout=1000");
  const { results } = rig.send("m", { oneWay: true });
  t.deepEqual(results, []);
  t.is(rig.device.rpc.pending, 1);
});

test("points cost one telemetry message and no other, everything else one other message", (t) => {
  const rateLimits = { "device-messages": "1:60", "device-telemetry": "2:60" };
  const rig = createRig({ rateLimits });
  const post = (path: string, body: string): [string, string, string] => ["POST", path, body];
  const calls = [post("telemetry", '[{"a":1},{"b":2}]'), post("attributes", '{"a":1}'), post("claim", "{}")];
  t.deepEqual(statuses(rig, [...calls, ...calls]), [200, 200, 200, 500, 500, 500]);
});

test("a null is no data point, and neither provisioning nor an unknown token costs anything", (t) => {
  const rig = createRig({ rateLimits: { "tenant-points": "1:60", "tenant-messages": "1:60" } });
  t.is(rig.call("POST", "telemetry", '{"a":1,"b":null}').status, 200);
  for (let tries = 0; tries < 3; tries++) {
    t.is(
      rig.call("POST", "/api/v1/provision", '{"provisionDeviceKey":"k","provisionDeviceSecret":"s"}').status,
      200,
    );
    t.is(rig.call("GET", "/api/v1/unknown/attributes").status, 401);
  }
  t.is(rig.call("GET", "attributes").status, 200);
});

test("each device has buckets of its own, the tenant's hold for all together", (t) => {
  const rig = createRig({ rateLimits: { "tenant-points": "3:60", "device-points": "2:60" } });
  rig.core.createDevice({ name: "other", profileId: rig.profile.id }, "other-token");
  const other = "/api/v1/other-token/telemetry";
  t.is(rig.call("POST", "telemetry", points(2)).status, 200);
  t.is(rig.call("POST", other, points(1)).status, 200);
  t.is(rig.call("POST", other, points(1)).status, 500);
  rig.clock.advance(20_000);
  t.is(rig.call("POST", other, points(1)).status, 200);
});
