// The health of a device as its operator learns it: counters against the world's own count, codes
// over restarts, and never more than hourly.
import test, { type ExecutionContext } from "ava";
import { Diagnostics, type DiagnosticsOptions, type Health } from "../../../extras/diagnostics/index.js";
import { HealthRecord } from "../../../extras/diagnostics/record.js";
import type { AgentOptions } from "../../../src/index.js";
import type { Host } from "../../../src/port.js";
import { FakeClock } from "../../fakes/clock.js";
import { type FakeHostOptions, fakeHost } from "../../fakes/host.js";
import type { SeenRequest } from "../../fakes/server.js";
import { storedBytes } from "../../fakes/stored.js";
import { Lamp } from "../../src/agent/firmware/updates/lamp.js";
import { type Rig, startRig } from "../../src/agent/rig.js";
import { FakeAgent } from "./fake-agent.js";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KEY = "health";
const WALL = Date.UTC(2026, 0, 1);
const POWER_ON = { reset: "power on", crash: false } as const;

/** An agent with diagnostics, started. */
function start(
  rig: Rig,
  { reset, ...diagnosed }: DiagnosticsOptions & { reset?: string } = {},
  options: Partial<AgentOptions> = {},
) {
  const agent = rig.agent(options);
  const lastRun = reset === undefined ? undefined : { reset, crash: false as const };
  const diagnostics = new Diagnostics(agent, { ...rig.host, lastRun }, diagnosed);
  agent.start();
  const stop = async (): Promise<void> => {
    diagnostics.close();
    await Promise.all([agent.stop(), rig.clock.advance(0)]);
  };
  return { agent, diagnostics, stop };
}

/** Diagnostics of an agent with nothing behind it. */
function alone(t: ExecutionContext, options: FakeHostOptions = {}, diagnosed: DiagnosticsOptions = {}) {
  const { clock = new FakeClock(WALL) } = options;
  const host = fakeHost({ ...options, clock });
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, host, diagnosed);
  t.teardown(() => diagnostics.close());
  const codes = (): string[] => new HealthRecord(host).errors.map(({ code }) => code);
  return { clock, host, agent, diagnostics, codes };
}

/** Of what changed, a report has at least one. */
const REPORTED = /"mote(QueueDepth|Dropped|RoundTrips|Retries|FetchedTwice|LeastFree|Resets|Errors)/;
const _isPoll = ({ path }: SeenRequest) => path.includes("timeout=");
const isReport = ({ method, path, body }: SeenRequest) =>
  method === "POST" && path.endsWith("/attributes") && REPORTED.test(body);

// How often.

test("virtual days with outages: the attributes come once an hour at most, and say what happened", async (t) => {
  const rig = startRig(t);
  const at: number[] = [];
  let out = false;
  rig.platform.fault = (request) => {
    if (out) return "drop";
    if (isReport(request)) at.push(rig.clock.now());
    return undefined;
  };
  const freeMemory = (): number => 90_000 - Math.floor(rig.clock.now() / HOUR);
  const { agent, stop } = start(rig, { reset: "power on", freeMemory });
  for (let hour = 0; hour < 48; hour++) {
    out = hour % 12 === 5 || hour % 12 === 6;
    agent.telemetry.record({ n: hour });
    await rig.clock.advance(HOUR);
  }
  await stop();
  t.true(at.length >= 36 && at.length <= 48, `${at.length} reports`);
  // One that waited for the end of an outage comes late, the next on time.
  for (let i = 3; i < at.length; i++) t.true(at[i]! - at[i - 3]! >= 2 * HOUR, `${at[i - 3]} ${at[i]}`);
  const shown = rig.platform.attributes(rig.device);
  t.regex(String(shown.moteErrors), /^\d+x lost$/);
  t.like(shown, { moteQueueDepth: 0, moteResets: "power on" });
  t.true(Number(shown.moteLeastFree) < 90_000 - 40);
});

test("restarts publish hourly at most, with and without a clock, and name what ended the runs", async (t) => {
  for (const wall of [WALL, undefined]) {
    const host = fakeHost({ clock: new FakeClock(wall), lastRun: { reset: "panic", crash: "any" } });
    const { clock } = host;
    const run = async (ms: number, begins: (agent: FakeAgent) => void, on = host) => {
      const agent = new FakeAgent();
      const diagnostics = new Diagnostics(agent, on);
      begins(agent);
      for (let passed = 0; passed < ms; passed += MINUTE) {
        agent.counters.roundTrips++;
        await clock.advance(MINUTE);
      }
      diagnostics.close();
      return agent.published;
    };
    const published: Readonly<Record<string, unknown>>[] = [];
    for (let n = 0; n < 40; n++) {
      const knows = (agent: FakeAgent): void => {
        // The platform tells it.
        if (wall === undefined) agent.platformTime = WALL + clock.now();
        agent.emit("online", {});
      };
      const on = n === 0 ? { ...host, lastRun: { reset: "power on", crash: "any" } } : host;
      published.push(...(await run(7 * MINUTE, knows, on)));
    }
    t.is(published.length, 5);
    t.regex(String(published.at(-1)!.moteResets), /^power on, \d\dx panic$/);
    for (const [year, minutes, reports] of [
      [2030, 50, 1],
      [2026, 70, 1],
      [2026, 50, 0],
      [2040, 50, 1],
    ] as const) {
      const { length } = await run(minutes * MINUTE, () => clock.setWall(Date.UTC(year, 0, 1)));
      t.is(length, reports, `${year}`);
    }
  }
});

// What it counts.

test("bytes of an image that came twice are those that the platform handed out twice", async (t) => {
  for (const connections of [1, 2, 3] as const) {
    const lamp = new Lamp({ connections, slotBytes: 32 * 4096 });
    const size = 100_000;
    let health: (() => Health) | undefined;
    let host: Host | undefined;
    lamp.hostOf = (one) => {
      host = one;
      return one;
    };
    lamp.onStart = () => {
      const diagnostics = new Diagnostics(lamp.agent, host!);
      health = () => diagnostics.health;
    };
    const served = () => lamp.machine.fetched.bytes;
    lamp.release("2.0.0", size);
    let breaks = 3;
    lamp.platform.fault = ({ path }) =>
      path.includes("/firmware?") && breaks-- > 0 && served() > 20_000 ? { breakAt: 3000 } : undefined;
    await lamp.until(() => served() > 50_000);
    // Stopped and started in one run: what was under way comes once more.
    await Promise.all([lamp.agent.stop(), lamp.machine.clock.advance(0)]);
    lamp.agent.start();
    let twice = 0;
    await lamp.until(() => {
      if (lamp.version === "1.0.0" && health) twice = health().fetchedTwice;
      return lamp.version === "2.0.0";
    });
    t.is(twice, served() - size, `${connections} connections`);
    t.true(twice > 0, `${twice}`);
  }
});

test("mote.health answers with everything, again after a restart that lost the answer", async (t) => {
  const rig = startRig(t);
  const { agent, stop } = start(rig, { reset: "panic", freeMemory: () => 12_345 });
  await rig.clock.advance(5000);
  const { device } = rig;
  rig.platform.fault = ({ body }) => (body.includes("poison") ? { status: 400 } : undefined);
  agent.telemetry.record({ poison: 1 });
  rig.platform.rpc(device, "nobody", {});
  await rig.clock.advance(5000);
  const results = await rig.call("mote.health", null, 5000);
  const health = JSON.parse((results[0] as { text: string }).text);
  t.like(health, {
    ...{ state: "online", queueDepth: 0, upSeconds: 10, leastFree: 12_345, resets: { panic: 1 } },
    ...{ dropped: { full: 0, refused: 1, unreadable: 0 }, malformedAnswers: 0, fetchedTwice: 0 },
  });
  t.true(health.roundTrips > 3);
  t.like(
    health.errors.find(({ code }: { code: string }) => code === "rpc METHOD_NOT_FOUND"),
    { times: 1 },
  );
  t.false(rig.store.values.has("rpc"));
  await stop();
});

test("the answer of mote.health is no longer than the agent's limit: older codes give way", (t) => {
  const { agent } = alone(t);
  for (let n = 0; n < 30; n++) agent.emit("error", { code: `refused ${400 + n}` });
  agent.emit("refused", { what: "provisioning" } as never);
  const errors = () => (agent.handler(null) as { errors: { code: string }[] }).errors;
  t.is(errors().length, 16);
  agent.rpc.answerBytes = 512;
  t.true(errors().length > 0 && errors().length < 16);
  t.is(errors().at(-1)?.code, "refused provisioning");
  t.true(JSON.stringify(agent.handler(null)).length <= 512);
});

test("memory is looked at once a minute, and the least is kept", async (t) => {
  let free = 1000;
  const { clock, diagnostics } = alone(t, {}, { freeMemory: () => free });
  for (free of [10, 500]) await clock.advance(MINUTE);
  t.is(diagnostics.health.leastFree, 10);
});

// What outlives a restart. It is one value of the store, which is old or new after a power loss.

test("codes and resets are read again, in at most 1.5 KB; a damaged value is ignored", (t) => {
  const host = fakeHost();
  const later = Date.UTC(2099, 0, 2);
  const record = new HealthRecord(host);
  record.published(Date.UTC(2099, 0, 1));
  for (let n = 0; n < 100; n++) record.started(`${"ä".repeat(4)}${n}${"r".repeat(200)}`);
  for (let n = 0; n < 100; n++)
    for (let i = 0; i < 20; i++) record.note(`refused provisioning ${n}`, 4_070_908_800);
  record.save();
  t.deepEqual([record.resets.length, record.errors.length], [16, 16]);
  t.like(record.errors.at(-1), { code: "refused provisioning 99", times: 20 });
  t.true((host.store.get(KEY)?.length ?? 0) <= 1500, String(host.store.get(KEY)?.length));
  const [written, read] = [record, new HealthRecord(host)].map((one) => [
    one.sincePublished(later),
    ...[one.resets, one.errors],
  ]);
  t.deepEqual(read, written);
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    '{"at":-1,"resets":7,"errors":{"0":1}}',
    '{"at":1e400,"resets":[null,[7,7],["x"]],"errors":[["y",1.5,-7],[]]}',
    `{"errors":[["${"z".repeat(4000)}",1,1]]}`,
    `{"errors":${JSON.stringify(Array(200).fill(["q", 1, 1]))}}`,
    "\u00ff\u00fe",
  ]) {
    host.store.values.set(KEY, storedBytes(Buffer.from(text, "latin1")));
    const read = new HealthRecord(host);
    t.true(read.errors.length <= 16 && read.resets.length <= 16, text.slice(0, 40));
    t.notThrows(() => read.save());
  }
});

test("a day of new codes every second takes 168 writes at most, and a quiet one 24", async (t) => {
  for (const [codes, most] of [
    [true, 168],
    [false, 24],
  ] as const) {
    const { clock, host, agent } = alone(t);
    for (let at = 0; at < DAY; at += 1000) {
      agent.counters.roundTrips++;
      agent.emit("error", { code: codes ? `busy ${at / 1000}` : "lost" });
      await clock.advance(1000);
    }
    const writes = host.store.changes.filter((key) => key === KEY).length;
    t.true(writes <= most + 2, `${writes} writes`);
    t.true(agent.published.length <= 24);
  }
});

test("a start takes one write if it is counted, and a wake from sleep none", (t) => {
  const { host } = alone(t, { lastRun: POWER_ON });
  t.deepEqual(host.store.changes, [KEY]);
  const woken = { ...host, lastRun: { reset: "deep sleep", crash: false as const, sleptMs: 60_000 } };
  for (let n = 0; n < 100; n++) new Diagnostics(new FakeAgent(), woken).close();
  t.deepEqual(host.store.changes, [KEY]);
});

test("codes that were noted shortly before a restart that the agent asks for are stored", (t) => {
  const { agent, codes } = alone(t);
  for (const code of ["lost", "fw selfTest"]) agent.emit("error", { code });
  agent.emit("restart", { reason: "firmware" });
  t.deepEqual(codes(), ["lost", "fw selfTest"]);
});

test("a store that takes nothing is reported, and harms nothing", async (t) => {
  const host = fakeHost({ clock: new FakeClock(WALL), lastRun: { reset: "panic", crash: "any" } });
  host.store.fails = () => true;
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, host);
  agent.emit("error", { code: "lost" });
  await host.clock.advance(3 * HOUR);
  t.is(agent.published.length, 1);
  t.like(diagnostics.health, { resets: { panic: 1 }, errors: [{ code: "lost" }] });
  t.true(host.lines.length > 0 && host.lines.length < 10);
  diagnostics.close();
});

test("attributes without room for more are not a failure: the next try is an hour later", async (t) => {
  const { clock, host, agent } = alone(t);
  agent.hasRoom = false;
  await clock.advance(3 * HOUR);
  t.is(host.lines.length, 3);
  agent.hasRoom = true;
  await clock.advance(HOUR);
  t.is(agent.published.length, 1);
});
