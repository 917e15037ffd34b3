import type { ExecutionContext } from "ava";
import fc from "fast-check";
import { MARKER_KEY, MARKER_VALUE } from "../../../../src/agent/attributes/freshness-marker.js";
import type { Agent } from "../../../../src/index.js";
import { Dice } from "../../../simulation/dice.js";
import {
  type Command,
  command,
  faults,
  restartDevice,
  restartPlatform,
  runUntilIdle,
  wait,
} from "../model-commands.js";
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
  test(`${connections} connection(s): a subscriber sees a change and a deletion within ${boundMs / 1000} s, each once`, async (t) => {
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

for (const connections of [2, 3] as const) {
  test(`${connections} connection(s): an RPC takes its answer and the next poll, and no look at the attributes`, async (t) => {
    const { rig, agent, device } = await started(t, connections);
    agent.rpc.handle("reload", () => "done");
    await rig.clock.advance(1000);
    const before = rig.platform.seen.length;
    const results = rig.platform.rpc(device, "reload", null);
    await rig.clock.advance(1000);
    t.is(results.length, 1);
    t.deepEqual(
      rig.platform.seen
        .slice(before)
        .map(({ method, path }) => `${method} ${path.replace(/.*\/rpc/, "rpc")}`),
      ["POST rpc/0", rig.platform.seen.at(-1)!.path.replace(/.*\/rpc/, "GET rpc")],
    );
  });
}

test("with the default connections half of the changes reach the application within a second, beside points each 5 s", async (t) => {
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

test("a value equal to the known one is not notified again", async (t) => {
  const { rig, seen, device } = await started(t, 3);
  for (let i = 0; i < 5; i++) {
    rig.platform.setShared(device, { interval: 5 });
    await rig.clock.advance(2000);
  }
  t.deepEqual(seen, [5]);
});

test("a subscriber that throws harms neither the others nor the agent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  const seen: unknown[] = [];
  agent.attributes.subscribe("a", () => {
    throw new Error("mine");
  });
  agent.attributes.subscribe("a", (value) => seen.push(value));
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.setShared(rig.platform.device(NAME), { a: 1 });
  await rig.clock.advance(40_000);
  t.deepEqual(seen, [1]);
  t.true(rig.host.lines.some((line) => line.includes("subscriber")));
});

test("a key whose value is larger than the agent takes is left out and reported, and the others are still read", async (t) => {
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

test("read ends with TIMEOUT at its deadline while the platform is away, and with STOPPED at a stop", async (t) => {
  const { rig, agent } = await started(t, 2);
  rig.platform.fault = () => "drop";
  const late = t.throwsAsync(agent.attributes.read({ sharedKeys: ["a"], timeoutMs: 5000 }), {
    code: "TIMEOUT",
  });
  await rig.clock.advance(5001);
  await late;
  const stopped = t.throwsAsync(agent.attributes.read({ sharedKeys: ["a"] }), { code: "STOPPED" });
  await rig.clock.advance(1);
  await agent.stop();
  await rig.clock.advance(30_000);
  await stopped;
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

// Shared attributes against a reference: what a subscriber knows is what the platform has, once it could find out.

const RUNS = 25;
const KEYS = ["a", "b", "c"] as const;
/** In calm the values are read within this. */
const LOOKED_MS = 32_000;
/** Nobody is interested in it before the middle. */
const LATE = "d";

class Subscriber {
  readonly name: string;
  heard: unknown;
  /** How often it heard that the key is gone. */
  gone = 0;
  constructor(name: string) {
    this.name = name;
  }
}

// The reference: the platform's values, all that each key ever had, and what the subscribers heard last.
interface Model {
  readonly values: Map<string, number>;
  readonly ever: Map<string, (number | undefined)[]>;
  readonly subscribers: Subscriber[];
  /** What a subscriber should not have heard. */
  readonly wrong: string[];
  agent?: Agent;
  /** The last look lacked what is there: the next does not, or both together would be a deletion. */
  lacked: boolean;
}

const key = fc.constantFrom(...KEYS, LATE);
const isLook = ({ method, path }: { method: string; path: string }) =>
  method === "GET" && path.includes("attributes?");
const isUpdate = ({ path }: { path: string }) => path.includes("attributes/updates");

const set = (name: string): Command<Model> =>
  command(`set ${name}`, ({ values, ever }, { rig }) => {
    const value = ever.get(name)!.length;
    values.set(name, value);
    ever.get(name)!.push(value);
    rig.platform.setShared(rig.platform.device(NAME), { [name]: value });
  });

const remove = (name: string): Command<Model> =>
  command(`delete ${name}`, ({ values, ever }, { rig }) => {
    if (values.delete(name)) ever.get(name)!.push(undefined);
    rig.platform.deleteShared(rig.platform.device(NAME), [name]);
  });

/** What was never set is never heard, and each deletion is heard once at most. */
function listen({ agent, ever, wrong }: Model, subscriber: Subscriber): void {
  const { name } = subscriber;
  agent!.attributes.subscribe(name, (value) => {
    const times = ever.get(name)!.filter((one) => one === value).length;
    const heard = value === undefined ? ++subscriber.gone : 1;
    if (times < heard) wrong.push(`${name} was ${value} ${times} times, heard ${heard}`);
    subscriber.heard = value;
  });
}

const subscribe = (name: string): Command<Model> =>
  command(`subscribe to ${name}`, (model) => {
    const subscriber = new Subscriber(name);
    model.subscribers.push(subscriber);
    listen(model, subscriber);
  });

/** A look finds the marker and nothing else; the one after it finds all. */
const lack: Command<Model> = command("find nothing but the marker", async (model, { rig }) => {
  let left = 1;
  rig.platform.fault = (request) => {
    if (!isLook(request)) return undefined;
    model.lacked = !model.lacked && left-- > 0;
    return model.lacked ? { status: 200, body: { client: { [MARKER_KEY]: MARKER_VALUE } } } : undefined;
  };
  await rig.clock.advance(LOOKED_MS);
});

const settle: Command<Model> = command("settle", async ({ values, subscribers, wrong }, real) => {
  await runUntilIdle(real, 11 * 60_000);
  for (const { name, heard } of subscribers) {
    if (heard !== values.get(name)) throw new Error(`${name} is ${values.get(name)}, heard ${heard}`);
  }
  if (wrong.length > 0) throw new Error(wrong.join());
});

const COMMANDS: fc.Arbitrary<Command<Model>>[] = [
  key.map(set),
  key.map(set),
  key.map(remove),
  key.map(subscribe),
  fc.constant(lack),
  wait(),
  fc.constant(settle),
  fc.constant(restartDevice<Model>()),
  fc.constant(restartPlatform<Model>()),
  faults("find nothing, as in a database error,", isLook, { status: 200, body: {} }),
  faults("lose the answer to a look", isLook, "lose-answer"),
  faults("lose what a poll brings", isUpdate, "lose-answer"),
  faults("be busy", () => true, { status: 503 }),
];

for (const connections of [1, 2, 3] as const) {
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;
  test(`${mode}: shared attributes do what their reference does`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 20, size: "max" }), async (commands) => {
        const rig = startRig(t);
        const model: Model = {
          values: new Map(),
          ever: new Map([...KEYS, LATE].map((name) => [name, []])),
          subscribers: KEYS.map((name) => new Subscriber(name)),
          wrong: [],
          lacked: false,
        };
        const begin = () => {
          const agent = rig.agent({ connections });
          model.agent = agent;
          for (const subscriber of model.subscribers) listen(model, subscriber);
          agent.start();
          return agent;
        };
        begin();
        await rig.clock.advance(3000);
        const real = { rig, begin };
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await settle.run(model, real);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
    t.pass();
  });
}
