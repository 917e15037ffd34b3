import test from "ava";
import { handleMethods } from "../../examples/sample/methods.js";
import { intervalOf, Sampler } from "../../examples/sample/sampler.js";
import { countStart } from "../../examples/sample/starts.js";
import { Room } from "../../examples/sample/weather.js";
import type { Agent, Host } from "../../src/index.js";

class Clock {
  at = 0;
  #due: { at: number; call: () => void }[] = [];
  now(): number {
    return this.at;
  }
  timer(ms: number, call: () => void): () => void {
    const entry = { at: this.at + ms, call };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((other) => other !== entry);
    };
  }
  pass(ms: number): void {
    const end = this.at + ms;
    for (;;) {
      const next = this.#due.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#due = this.#due.filter((other) => other !== next);
      this.at = next.at;
      next.call();
    }
    this.at = end;
  }
}

test("the sampler samples once an interval", (t) => {
  const clock = new Clock();
  let samples = 0;
  new Sampler(clock, 1_000, () => samples++);
  clock.pass(3_500);
  t.is(samples, 3);
});

test("a new interval counts from the change on and ends the one before", (t) => {
  const clock = new Clock();
  let samples = 0;
  const sampler = new Sampler(clock, 1_000, () => samples++);
  clock.pass(900);
  sampler.every(200);
  clock.pass(1_000);
  t.is(samples, 5);
  t.is(sampler.intervalMs, 200);
});

test("an interval is a number of seconds within the limits", (t) => {
  t.is(intervalOf(0.5), 500);
  t.is(intervalOf(0.05), 50);
  t.is(intervalOf(3600), 3_600_000);
  for (const value of [0.049, 3601, 0, -1, Number.NaN, "1", null, true, {}])
    t.is(intervalOf(value), undefined);
});

function store(): Pick<Host, "store"> & { values: Map<string, Uint8Array> } {
  const values = new Map<string, Uint8Array>();
  const get = (key: string) => values.get(key);
  const set = (key: string, value: Uint8Array) => values.set(key, value) === values;
  return { values, store: { get, set, delete: (key) => values.delete(key) } };
}

test("starts are counted in the store", (t) => {
  const host = store();
  for (let start = 1; start <= 11; start++) t.is(countStart(host), start);
  t.deepEqual(host.values.get("desk.starts"), new Uint8Array([1, 49, 49]));
});

test("a count of another format is left alone", (t) => {
  for (const record of [[2, 49], [1], [1, 65], []]) {
    const host = store();
    host.values.set("desk.starts", new Uint8Array(record));
    t.is(countStart(host), undefined);
    t.deepEqual(host.values.get("desk.starts"), new Uint8Array(record));
  }
});

test("the room's readings stay within their limits and wander in small steps", (t) => {
  for (const chance of [0, 255]) {
    const room = new Room({ random: (into) => void into.fill(chance) });
    let before = room.next();
    for (let n = 0; n < 1_000; n++) {
      const next = room.next();
      t.true(Math.abs(next.temperature - before.temperature) <= 0.21);
      t.true(next.temperature >= 15 && next.temperature <= 30);
      t.true(next.humidity >= 20 && next.humidity <= 80);
      t.true(next.pressure >= 980 && next.pressure <= 1040);
      before = next;
    }
  }
});

type Handler = (params: unknown) => unknown;

function methods() {
  const handlers = new Map<string, Handler>();
  const calls: unknown[] = [];
  const agent = {
    flush: async () => {
      calls.push("flush");
      return { delivered: 1, dropped: 0, waiting: 0 };
    },
    rpc: {
      handle: (method: string, handler: Handler) => handlers.set(method, handler),
      call: async (...call: unknown[]) => calls.push(call) && { time: 1 },
    },
    attributes: { read: async (keys: unknown) => calls.push(keys) && { client: {}, shared: {} } },
    claim: async (claim: unknown) => void calls.push(claim),
  };
  const application = {
    status: () => ({ led: "off" }),
    setLed: (on: boolean) => ({ on }),
    sample: () => void calls.push("sample"),
    health: () => void calls.push("health"),
  };
  handleMethods(agent as unknown as Agent, { clock: new Clock() } as unknown as Host, application);
  const run = (method: string, params: unknown) => handlers.get(method)?.(params);
  return { run, calls };
}

test("setLed, getStatus and echo answer with what they did", (t) => {
  const { run } = methods();
  t.deepEqual(run("setLed", { on: true }), { on: true });
  t.deepEqual(run("getStatus", null), { led: "off" });
  t.deepEqual(run("echo", [1, { a: null }]), [1, { a: null }]);
});

test("a burst records as many points as asked and sends them apart from others", async (t) => {
  const { run, calls } = methods();
  t.deepEqual(await run("burst", { points: 2 }), { delivered: true });
  t.deepEqual(calls, ["flush", "sample", "sample", "flush"]);
});

test("a report is a reading and the device's health, sent apart from others", async (t) => {
  const { run, calls } = methods();
  t.deepEqual(await run("report", null), { delivered: true });
  t.deepEqual(calls, ["flush", "sample", "health", "flush"]);
});

test("a burst of no whole number of points, of none or of too many is refused", (t) => {
  const { run } = methods();
  for (const points of [0, -1, 1.5, 5_001, Number.NaN])
    t.throws(() => run("burst", { points }), { instanceOf: RangeError });
});

test("params of a wrong type are refused with the name of the member", (t) => {
  const { run } = methods();
  for (const params of [
    null,
    7,
    [],
    {},
    { on: "yes" },
    { on: null },
    JSON.parse('{"__proto__":{"on":true}}'),
  ]) {
    t.throws(() => run("setLed", params), { message: /^on: / });
  }
});

test("what the device does by itself can be set off from the platform's side", async (t) => {
  const { run, calls } = methods();
  t.deepEqual(await run("callPlatform", null), { answer: { time: 1 }, ms: 0 });
  await run("callPlatform", { method: "add", params: { a: 1 } });
  await run("readAttributes", { clientKeys: ["a"], sharedKeys: ["b", "c"] });
  await run("readAttributes", null);
  await run("claim", { secretKey: "s", durationMs: 1_000 });
  await run("claim", null);
  t.deepEqual(calls, [
    ["getCurrentTime", {}],
    ["add", { a: 1 }],
    { clientKeys: ["a"], sharedKeys: ["b", "c"] },
    {},
    { secretKey: "s", durationMs: 1_000 },
    {},
  ]);
  await t.throwsAsync(async () => run("readAttributes", { clientKeys: "a" }), { message: /^clientKeys: / });
  await t.throwsAsync(async () => run("readAttributes", { sharedKeys: [1] }), { message: /^sharedKeys: / });
});
