import type { ExecutionContext } from "ava";
import type { SeenRequest } from "../../../fakes/server.js";
import { storedBytes } from "../../../fakes/stored.js";
import { Dice } from "../../../simulation/dice.js";
import { details, type Rig, startOnline, startRig, test, watch } from "../rig.js";

const started = async (t: ExecutionContext, connections: 1 | 2 | 3, keys: string[] = ["interval"]) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections });
  const seen: unknown[] = [];
  for (const key of keys) agent.attributes.subscribe(key, (value) => seen.push(value));
  agent.start();
  await rig.clock.advance(5000);
  // The platform said once that there are none. With one connection, that takes a poll longer.
  const first = seen.splice(0);
  if (connections > 1)
    t.deepEqual(
      first,
      keys.map(() => undefined),
    );
  return { rig, agent, seen, device: rig.device };
};
/** Reads of the values of shared attributes. */
const isRead = ({ method, path }: SeenRequest) => method === "GET" && path.includes("sharedKeys=");
const posts = (rig: Rig) =>
  rig.platform.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/attributes"));

for (const [connections, boundMs] of [
  [1, 31_000],
  [2, 31_000],
  [3, 26_000],
] as const) {
  test(`${connections} connection(s): a subscriber sees changes and deletions once, in ${boundMs / 1000} s`, async (t) => {
    const { rig, seen, device } = await started(t, connections);
    rig.platform.setShared(device, { interval: 5 });
    await rig.clock.advance(boundMs);
    t.deepEqual(seen, [5]);
    rig.platform.setShared(device, { interval: 7, other: 1 });
    await rig.clock.advance(boundMs);
    t.deepEqual(seen, [5, 7]);
    rig.platform.deleteShared(device, ["interval"]);
    await rig.clock.advance(boundMs + 3000);
    t.deepEqual(seen, [5, 7, undefined]);
    t.deepEqual(details(rig, "attributes"), [
      { keys: ["interval"], deleted: [] },
      { keys: ["interval"], deleted: [] },
      { keys: [], deleted: ["interval"] },
    ]);
  });
}

test("by default half of the changes reach the application within a second, beside points", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  const dice = new Dice(1);
  const waits: number[] = [];
  let changedAt = 0;
  agent.attributes.subscribe("interval", () => waits.push(rig.clock.now() - changedAt));
  const end = rig.clock.now() + 30 * 60_000;
  for (let value = 0; rig.clock.now() < end; value++) {
    changedAt = rig.clock.now();
    rig.platform.setShared(device, { interval: value });
    const next = 10_000 + dice.below(50_000);
    for (let ms = 0; ms < next; ms += 5000) {
      agent.telemetry.record({ value: ms });
      await rig.clock.advance(Math.min(5000, next - ms));
    }
  }
  waits.sort((a, b) => a - b);
  t.true(waits.length >= 40, `${waits.length}`);
  t.true(waits[waits.length >> 1]! <= 1000, `${waits}`);
});

test("a subscriber is called at once with what is known, also from before a restart without a network", async (t) => {
  const { rig, agent, device } = await started(t, 3);
  rig.platform.setShared(device, { interval: { s: 5 } });
  await rig.clock.advance(1000);
  await agent.stop();
  rig.platform.fault = () => "drop";
  const restarted = rig.agent();
  const seen = watch(restarted);
  t.deepEqual(seen, [{ s: 5 }]);
  Object.assign(seen[0] as object, { s: 6 });
  t.deepEqual(watch(restarted), [{ s: 5 }]);
});

test("tells each subscriber once that an attribute does not exist, and again when it is deleted", async (t) => {
  const { rig, agent, seen, device } = await started(t, 3);
  const late: unknown[] = [];
  agent.attributes.subscribe("interval", (value) => late.push(value));
  t.deepEqual(late, [undefined]);
  await rig.clock.advance(10 * 60_000);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(60_000);
  rig.platform.deleteShared(device, ["interval"]);
  await rig.clock.advance(10 * 60_000);
  t.deepEqual(
    [seen, late],
    [
      [5, undefined],
      [undefined, 5, undefined],
    ],
  );
  await agent.stop();
  rig.platform.fault = () => ({ status: 200, body: "{}" });
  const restarted = rig.agent();
  const without: unknown[] = [];
  restarted.attributes.subscribe("interval", (value) => without.push(value));
  restarted.start();
  await rig.clock.advance(60_000);
  t.deepEqual(without, [], "an answer without the marker says nothing");
});

test("reports a key whose value is too large, and still reads the others", async (t) => {
  const { rig, seen, device } = await started(t, 2, ["a", "large", "b", "c"]);
  rig.platform.setShared(device, { a: 1, large: "x".repeat(20_000), b: 2, c: 3 });
  await rig.clock.advance(90_000);
  t.deepEqual(seen.sort(), [1, 2, 3]);
  t.is(rig.host.lines.filter((line) => line.includes('attribute "large" is larger than')).length, 1);
});

test("an answer that is too large and not the platform's leaves no key out for longer than a minute", async (t) => {
  const { rig, seen, device } = await started(t, 2, ["a", "b"]);
  rig.platform.fault = (request) => (isRead(request) ? { status: 200, body: "[".repeat(10_000) } : undefined);
  await rig.clock.advance(90_000);
  rig.platform.setShared(device, { a: 1, b: 2 });
  await rig.clock.advance(1000);
  const polled = [...seen];
  rig.platform.fault = undefined;
  rig.platform.setShared(device, { a: 3 });
  await rig.clock.advance(60_000);
  t.deepEqual([polled, seen.sort()], [[], [2, 3]]);
  t.false(rig.host.lines.some((line) => line.includes("left out")));
});

for (const [what, fault] of [
  ["busy", { status: 503 }],
  ["lost", "drop"],
] as const)
  test(`a read that is ${what} leaves no key out: the next one brings the value`, async (t) => {
    const { rig, seen, device } = await started(t, 2);
    let faults = 0;
    rig.platform.fault = (request) => (isRead(request) && faults++ < 2 ? fault : undefined);
    rig.platform.setShared(device, { interval: 7 });
    await rig.clock.advance(75_000);
    t.true(faults > 2);
    t.deepEqual(seen, [7]);
    t.false(rig.host.lines.some((line) => line.includes("left out")));
  });

test("a key that the platform can't be asked for is refused", (t) => {
  const agent = startRig(t).agent();
  for (const key of ["", " ", "a,b", "__proto__", "k".repeat(256)]) {
    t.throws(() => agent.attributes.subscribe(key, () => {}), { code: "BAD_VALUE" }, `"${key}"`);
  }
});

test("client attributes reach the platform, merged by key, and an unchanged one is not sent again", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.attributes.publish({ serial: "A-113", colour: "red" });
  agent.attributes.publish({ colour: "blue" });
  agent.start();
  await rig.clock.advance(5000);
  t.like(rig.platform.attributes(rig.device), { serial: "A-113", colour: "blue" });
  const before = posts(rig).length;
  agent.attributes.publish({ serial: "A-113" });
  await rig.clock.advance(60_000);
  t.is(posts(rig).length, before);
  agent.attributes.publish({ serial: "A-114" });
  await rig.clock.advance(60_000);
  t.is(posts(rig).length, before + 1);
  t.is(posts(rig).at(-1)?.body, '{"serial":"A-114"}');
});

test("a client attribute that the platform refuses is dropped alone, and reported", async (t) => {
  const rig = startRig(t);
  rig.platform.fault = ({ method, path, body }) =>
    method === "POST" && path.endsWith("/attributes") && body.includes("bad") ? { status: 400 } : undefined;
  const agent = rig.agent();
  agent.attributes.publish({ good: 1, bad: 2, fine: 3 });
  agent.start();
  await rig.clock.advance(120_000);
  const kept = rig.platform.attributes(rig.device);
  t.like(kept, { good: 1, fine: 3 });
  t.false("bad" in kept);
  t.is(rig.host.lines.filter((line) => line.includes("refuses a client attribute")).length, 1);
});

test("a client attribute that cannot be held is left out and counted; the others arrive", async (t) => {
  const { rig, agent, device } = await started(t, 2);
  const { publish } = { publish: (values: Record<string, unknown>) => agent.attributes.publish(values) };
  t.true(publish({ a: "x".repeat(3000), big: "y".repeat(1500), b: NaN, c: { d: null, e: 1 }, f: 2 }));
  t.is(agent.counters.leftOut, 3);
  t.false(publish({ b: undefined, moteVersion: "1" }));
  t.false(
    publish({
      get broken() {
        throw new Error("no");
      },
    }),
  );
  t.is(agent.counters.leftOut, 6);
  await rig.clock.advance(60_000);
  const kept = rig.platform.attributes(device);
  t.like(kept, { c: { e: 1 }, f: 2 });
  t.deepEqual(["big" in kept, "b" in kept, String(kept.a).length], [false, false, 3000]);
  t.not(kept.moteVersion, "1");
});

test("of 100,000 client attributes, only as many are looked at as could fit", async (t) => {
  const { rig, agent } = await started(t, 2);
  let encoded = 0;
  const { encode } = rig.host;
  rig.host.encode = (text) => {
    encoded++;
    return encode(text);
  };
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]));
  t.true(agent.attributes.publish(many));
  rig.host.encode = encode;
  t.true(encoded < 1000, `${encoded}`);
  t.true(agent.counters.leftOut > 99_000, `${agent.counters.leftOut}`);
  const throwing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  );
  t.throws(() => agent.attributes.publish(throwing), { code: "BAD_VALUE" });
});

test("read gives both kinds by key, all without keys, and leaves out what does not exist", async (t) => {
  const { rig, agent, device } = await started(t, 2);
  rig.platform.setShared(device, { interval: 5, mode: "auto" });
  agent.attributes.publish({ serial: "A-113" });
  await rig.clock.advance(35_000);
  const read = async (keys?: Parameters<typeof agent.attributes.read>[0]) =>
    JSON.parse(JSON.stringify(await rig.clock.untilSettled(agent.attributes.read(keys), 1000)));
  t.deepEqual(await read({ clientKeys: ["serial"], sharedKeys: ["interval", "absent"] }), {
    client: { serial: "A-113" },
    shared: { interval: 5 },
  });
  t.deepEqual(await read({ sharedKeys: ["mode"] }), { client: {}, shared: { mode: "auto" } });
  const all = { client: { serial: "A-113" }, shared: { interval: 5, mode: "auto" } };
  t.like(await read(), all);
  t.like(await read({ clientKeys: null as never, sharedKeys: null as never }), all);
});

test("3 connections: what was read is not seen any more when a notification came meanwhile", async (t) => {
  const { rig, seen, device } = await started(t, 3);
  let reads = 0;
  rig.platform.fault = (request) => {
    if (!isRead(request) || reads++ > 0) return undefined;
    return { answer: (bytes) => void rig.clock.timer(2000, () => request.peer.send(bytes)) };
  };
  // The second comes when no poll is open, and is only to be had by reading.
  rig.platform.setShared(device, { interval: 1 });
  rig.platform.setShared(device, { interval: 2 });
  await rig.clock.runUntil(() => reads === 1, 30_000);
  rig.platform.setShared(device, { interval: 3 });
  await rig.clock.advance(10_000);
  t.deepEqual(seen, [1, 3]);
});

test("beside a key that changes each second, a read that takes longer shows the others", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  rig.platform.setShared(device, { fast: -1, limit: 7 });
  rig.platform.fault = (request) =>
    isRead(request)
      ? { answer: (bytes) => void rig.clock.timer(1500, () => request.peer.send(bytes)) }
      : undefined;
  const fast = watch(agent, "fast");
  const limit = watch(agent, "limit");
  for (let second = 0; second < 300; second++) {
    rig.platform.setShared(device, { fast: second });
    await rig.clock.advance(1000);
  }
  rig.platform.fault = undefined;
  await rig.clock.advance(10_000);
  t.deepEqual(limit, [7]);
  t.deepEqual([fast.at(-1), fast.length > 100], [299, true]);
  t.deepEqual(
    fast,
    fast.slice().sort((one, other) => Number(one) - Number(other)),
  );
});

for (const method of ["GET", "POST"])
  test(`${method} attributes has to wait for an hour: what polls bring is seen at once`, async (t) => {
    const { rig, agent, seen, device } = await started(t, 3);
    rig.platform.fault = (request) => {
      if (request.method !== method || !/\/attributes(\?|$)/.test(request.path)) return undefined;
      request.reply(429, "", { "Retry-After": "3600" });
      return "hang";
    };
    if (method === "POST") agent.attributes.publish({ serial: 1 });
    else agent.attributes.subscribe("limit", () => {});
    await rig.clock.advance(5000);
    rig.platform.setShared(device, { interval: 1 });
    await rig.clock.advance(1000);
    rig.platform.setShared(device, { interval: 2 });
    await rig.clock.advance(1000);
    t.deepEqual(seen, [1, 2]);
  });

test("a subscription that ends during a notification is called no more", async (t) => {
  const { rig, agent } = await startOnline(t);
  const seen: unknown[] = [];
  let end = () => {};
  agent.attributes.subscribe("interval", () => end());
  end = agent.attributes.subscribe("interval", (value) => seen.push(value));
  await rig.clock.advance(30_000);
  t.deepEqual(seen, []);
});

test("only the application's keys are asked for", async (t) => {
  const { rig } = await started(t, 2, ["interval", "limit"]);
  const queries = rig.platform.seen
    .filter(({ path }) => path.includes("/attributes?"))
    .map(({ path }) => path.split("?")[1]);
  t.deepEqual([...new Set(queries)], ["clientKeys=moteVersion&sharedKeys=interval,limit"]);
});

test("damaged stored client attributes are left out, and the others reach the platform", async (t) => {
  const rig = startRig(t);
  const sound = ["sound", '"sound":1', 1];
  const stored = [7, null, [], ["a"], [1, '"b":1', 1], ["c", 3, 1], ["sent", '"sent":1', 0], sound];
  rig.store.values.set("client", storedBytes(JSON.stringify(stored)));
  rig.agent({ connections: 2 }).start();
  await rig.clock.advance(5000);
  const bodies = posts(rig).map(({ body }) => JSON.parse(body));
  t.deepEqual(bodies, [{ moteVersion: "mote 0.1.0" }, { sent: 1, sound: 1 }]);
  t.is(rig.platform.attributes(rig.device).sound, 1);
});

test("an empty answer without the marker deletes nothing: it may be a database error's", async (t) => {
  const { rig, seen, device } = await started(t, 2);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(31_000);
  rig.platform.fault = (request) => (isRead(request) ? { status: 200, body: {} } : undefined);
  await rig.clock.advance(10 * 60_000);
  t.deepEqual(seen, [5]);
});

test("malformed answers are ignored, each is counted, and their kind is logged once", async (t) => {
  const { rig, agent, seen, device } = await started(t, 2);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(31_000);
  rig.platform.fault = ({ method, path }) =>
    method === "GET" && path.includes("attributes?") ? { status: 200, body: [] } : undefined;
  await rig.clock.advance(10 * 60_000);
  t.deepEqual(seen, [5]);
  t.true(agent.counters.malformedAnswers >= 2, `${agent.counters.malformedAnswers}`);
  t.deepEqual(
    rig.host.lines.filter((line) => line.includes("malformed")),
    ["warn: an answer to GET attributes is malformed and ignored (logged once)"],
  );
});
