import type { ExecutionContext } from "ava";
import { Dice } from "../../../simulation/dice.js";
import { details, NAME, type Rig, startRig, test } from "../rig.js";

const started = async (t: ExecutionContext, connections: 1 | 2 | 3, keys: string[] = ["interval"]) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections });
  const seen: unknown[] = [];
  for (const key of keys) agent.attributes.subscribe(key, (value) => seen.push(value));
  agent.start();
  await rig.clock.advance(5000);
  return { rig, agent, seen, device: rig.platform.device(NAME) };
};
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
  const rig = startRig(t);
  const dice = new Dice(1);
  const agent = rig.agent();
  const waits: number[] = [];
  let changedAt = 0;
  agent.attributes.subscribe("interval", () => waits.push(rig.clock.now() - changedAt));
  agent.start();
  await rig.clock.advance(5000);
  const device = rig.platform.device(NAME);
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
  const again = rig.agent();
  const seen: unknown[] = [];
  again.attributes.subscribe("interval", (value) => seen.push(value));
  t.deepEqual(seen, [{ s: 5 }]);
  seen[0] = Object.assign(seen[0] as object, { s: 6 });
  again.attributes.subscribe("interval", (value) => seen.push(value));
  t.deepEqual(seen[1], { s: 5 });
});

test("reports a key whose value is too large, and still reads the others", async (t) => {
  const { rig, seen, device } = await started(t, 2, ["a", "large", "b", "c"]);
  rig.platform.setShared(device, { a: 1, large: "x".repeat(20_000), b: 2, c: 3 });
  await rig.clock.advance(90_000);
  t.deepEqual(seen.sort(), [1, 2, 3]);
  t.is(rig.host.lines.filter((line) => line.includes("larger than")).length, 1);
});

test("an answer that is too large and not the platform's leaves no key out for longer than a minute", async (t) => {
  const { rig, seen, device } = await started(t, 2, ["a", "b"]);
  rig.platform.fault = ({ path }) =>
    path.includes("sharedKeys=") ? { status: 200, body: "[".repeat(10_000) } : undefined;
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
  ["refused", { status: 404 }],
  ["lost", "drop"],
] as const)
  test(`a look that is ${what} leaves no key out: the value is seen with the next`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ connections: 2 });
    const seen: unknown[] = [];
    agent.attributes.subscribe("interval", (value) => seen.push(value));
    agent.start();
    await rig.clock.advance(5000);
    let faults = 0;
    rig.platform.fault = ({ method, path }) =>
      method === "GET" && path.includes("sharedKeys=") && faults++ < 2 ? fault : undefined;
    rig.platform.setShared(rig.platform.device(NAME), { interval: 7 });
    await rig.clock.advance(75_000);
    t.true(faults > 2);
    t.deepEqual(seen, [7]);
    t.false(rig.host.lines.some((line) => line.includes("left out")));
  });

test("a key that the platform can't be asked for is refused", (t) => {
  const agent = startRig(t).agent();
  for (const key of ["", " ", "a,b", "__proto__"]) {
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
  t.like(rig.platform.attributes(rig.platform.device(NAME)), { serial: "A-113", colour: "blue" });
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
  const kept = rig.platform.attributes(rig.platform.device(NAME));
  t.like(kept, { good: 1, fine: 3 });
  t.false("bad" in kept);
  t.is(rig.host.lines.filter((line) => line.includes("refuses a client attribute")).length, 1);
});

test("more client attributes than fit are refused, and nothing of them is kept", (t) => {
  const agent = startRig(t).agent();
  t.throws(() => agent.attributes.publish({ a: "x".repeat(4000) }), { code: "TOO_LARGE" });
  t.throws(() => agent.attributes.publish({ b: Number.NaN }), { code: "BAD_VALUE" });
  t.throws(() => agent.attributes.publish({ moteVersion: "1" }), { code: "BAD_VALUE" });
  t.notThrows(() => agent.attributes.publish({ a: "x".repeat(3000) }));
});

test("read gives both kinds by key, all without keys, and leaves out what does not exist", async (t) => {
  const { rig, agent, device } = await started(t, 2);
  rig.platform.setShared(device, { interval: 5, mode: "auto" });
  agent.attributes.publish({ serial: "A-113" });
  await rig.clock.advance(35_000);
  const read = async (keys?: Parameters<typeof agent.attributes.read>[0]) => {
    const reading = agent.attributes.read(keys);
    await rig.clock.advance(1000);
    return JSON.parse(JSON.stringify(await reading));
  };
  t.deepEqual(await read({ clientKeys: ["serial"], sharedKeys: ["interval", "absent"] }), {
    client: { serial: "A-113" },
    shared: { interval: 5 },
  });
  t.deepEqual(await read({ sharedKeys: ["mode"] }), { client: {}, shared: { mode: "auto" } });
  t.like(await read(), { client: { serial: "A-113" }, shared: { interval: 5, mode: "auto" } });
});

test("3 connections: what was read is not seen any more when a notification came meanwhile", async (t) => {
  const { rig, seen, device } = await started(t, 3);
  let reads = 0;
  rig.platform.fault = ({ method, path, peer }) => {
    if (method !== "GET" || !path.includes("/attributes?") || reads++ > 0) return undefined;
    return { answer: (bytes) => void rig.clock.timer(2000, () => peer.send(bytes)) };
  };
  // The second comes when no poll is open, and is only to be had by reading.
  rig.platform.setShared(device, { interval: 1 });
  rig.platform.setShared(device, { interval: 2 });
  await rig.clock.runUntil(() => reads === 1, 30_000);
  rig.platform.setShared(device, { interval: 3 });
  await rig.clock.advance(10_000);
  t.deepEqual(seen, [1, 3]);
});

test("no keys are asked for but the application's", async (t) => {
  const { rig } = await started(t, 2, ["interval", "limit"]);
  const paths = rig.platform.seen
    .map(({ path }) => /\/attributes\?.*/.exec(path)?.[0])
    .filter((path) => path);
  t.deepEqual([...new Set(paths)], ["/attributes?clientKeys=moteVersion&sharedKeys=interval,limit"]);
});

const keepsOnly = (values: unknown) =>
  new Uint8Array([1, ...new TextEncoder().encode(JSON.stringify(values))]);

test("of stored client attributes what is none is left out, and the others reach the platform", async (t) => {
  const rig = startRig(t);
  const sound = ["sound", '"sound":1', 1];
  rig.store.values.set(
    "pending",
    keepsOnly([7, null, [], ["a"], [1, '"b":1', 1], ["c", 3, 1], ["sent", '"sent":1', 0], sound]),
  );
  rig.agent({ connections: 2 }).start();
  await rig.clock.advance(5000);
  t.deepEqual(
    posts(rig).map(({ body }) => JSON.parse(body)),
    [{ moteVersion: "mote 0.1.0" }, { sent: 1, sound: 1 }],
  );
  t.is(rig.platform.attributes(rig.platform.device(NAME)).sound, 1);
});

test("an empty answer without the marker deletes nothing: it may be a database error's", async (t) => {
  const { rig, seen, device } = await started(t, 2);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(31_000);
  rig.platform.fault = ({ method, path }) =>
    method === "GET" && path.includes("attributes?") ? { status: 200, body: {} } : undefined;
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
