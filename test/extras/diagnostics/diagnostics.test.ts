// How a device does, as its operator learns it: counters against the world's own count, codes over restarts, and never more than hourly.
import anyTest from "ava";
import { Diagnostics, type DiagnosticsOptions, type Health } from "../../../extras/diagnostics/index.js";
import { HealthRecord } from "../../../extras/diagnostics/record.js";
import type { Agent, AgentOptions } from "../../../src/index.js";
import type { Host } from "../../../src/port.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import type { SeenRequest } from "../../fakes/server.js";
import { Lamp } from "../../src/agent/firmware/updates/lamp.js";
import { NAME, type Rig, startRig, test } from "../../src/agent/rig.js";
import { FakeAgent } from "./fake-agent.js";

const MINUTE = 60_000;
const HOUR = 3_600_000;

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
  return { agent, diagnostics };
}

async function stop(
  rig: Rig,
  { agent, diagnostics }: { agent: Agent; diagnostics: Diagnostics },
): Promise<void> {
  diagnostics.close();
  const stopped = agent.stop();
  await rig.clock.advance(0);
  await stopped;
}

/** Of what changed, a report has at least one. */
const REPORTED = /"mote(QueueDepth|Dropped|RoundTrips|Retries|FetchedTwice|LeastFree|Resets|Errors)/;
const isPoll = ({ path }: SeenRequest) => path.includes("timeout=");
const isReport = ({ method, path, body }: SeenRequest) =>
  method === "POST" && path.endsWith("/attributes") && REPORTED.test(body);

test("virtual days with outages: the attributes come once an hour at most, and say what happened", async (t) => {
  const rig = startRig(t);
  const at: number[] = [];
  let out = false;
  rig.platform.fault = (request) => {
    if (out) return "drop";
    if (isReport(request)) at.push(rig.clock.now());
    return undefined;
  };
  const running = start(rig, {
    reset: "power on",
    freeMemory: () => 90_000 - Math.floor(rig.clock.now() / HOUR),
  });
  for (let hour = 0; hour < 48; hour++) {
    out = hour % 12 === 5 || hour % 12 === 6;
    running.agent.telemetry.record({ n: hour });
    await rig.clock.advance(HOUR);
  }
  await stop(rig, running);
  t.true(at.length >= 36 && at.length <= 48, `${at.length} reports`);
  // One that waited for the end of an outage comes late, the next on time.
  for (let i = 3; i < at.length; i++) t.true(at[i]! - at[i - 3]! >= 2 * HOUR, `${at[i - 3]} ${at[i]}`);
  const shown = rig.platform.attributes(rig.platform.device(NAME));
  t.regex(String(shown.moteErrors), /^\d+x lost$/);
  t.is(shown.moteQueueDepth, 0);
  t.is(shown.moteResets, "power on");
  t.true(Number(shown.moteLeastFree) < 90_000 - 40);
});

test("restarts every seven minutes publish no more often, and say what ended the runs", async (t) => {
  const rig = startRig(t);
  let running = start(rig, { reset: "power on" });
  for (let n = 0; n < 40; n++) {
    await rig.clock.advance(7 * MINUTE);
    await stop(rig, running);
    running = start(rig, { reset: "panic" });
  }
  await stop(rig, running);
  const reports = rig.platform.seen.filter(isReport);
  t.true(reports.length >= 4 && reports.length <= 5, `${reports.length} in 280 minutes`);
  const { moteResets } = rig.platform.attributes(rig.platform.device(NAME));
  t.regex(String(moteResets), /^power on, \d\dx panic$/);
});

anyTest("without anybody who knows the time it is once an hour of running", async (t) => {
  const agent = new FakeAgent();
  const clock = new FakeClock(undefined);
  const diagnostics = new Diagnostics(agent, fakeHost({ clock }));
  await clock.advance(59 * MINUTE);
  t.is(agent.published.length, 0);
  for (let hour = 0; hour < 5; hour++) {
    agent.counters.retries++;
    await clock.advance(HOUR);
  }
  t.is(agent.published.length, 5);
  // Each request is a round trip, so that count alone is nothing to report.
  for (let hour = 0; hour < 5; hour++) {
    agent.counters.roundTrips++;
    await clock.advance(HOUR);
  }
  t.is(agent.published.length, 5);
  diagnostics.close();
  t.is(clock.waiting, 0);
});

anyTest("a clock that is set back or forward by years publishes no more often, and goes on", async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 1));
  const host = fakeHost({ clock });
  const runs: number[] = [];
  for (const year of [2030, 2026, 2026, 2040]) {
    clock.setWall(Date.UTC(year, 0, 1));
    const agent = new FakeAgent();
    const diagnostics = new Diagnostics(agent, host);
    for (let minute = 0; minute < 50; minute++) {
      agent.counters.roundTrips++;
      await clock.advance(MINUTE);
    }
    diagnostics.close();
    runs.push(agent.published.length);
  }
  t.deepEqual(runs, [1, 0, 0, 1]);
  t.true(host.store.changes.length > 0);
});

test("round trips and retries are those that the platform's side counts", async (t) => {
  const rig = startRig(t);
  let answered = 0;
  let spoilt = 0;
  let left = 0;
  rig.platform.fault = (request) => {
    if (isPoll(request) || request.path.endsWith("/provision") || left-- <= 0) return undefined;
    spoilt++;
    return spoilt % 3 === 0 ? "drop" : { status: spoilt % 3 === 1 ? 503 : 429 };
  };
  rig.net.onBytes = (bytes) => {
    if (Buffer.from(bytes.subarray(0, 9)).toString("latin1") === "HTTP/1.1 ") answered++;
  };
  const running = start(rig);
  await rig.clock.advance(5000);
  for (let n = 0; n < 60; n++) {
    if (n % 6 === 0) left = n % 4;
    running.agent.telemetry.record({ n });
    await rig.clock.advance(MINUTE);
  }
  await rig.clock.advance(10 * MINUTE);
  const { roundTrips, retries, errors, queueDepth } = running.diagnostics.health;
  t.true(spoilt > 8, `${spoilt}`);
  t.is(queueDepth, 0);
  t.is(roundTrips, answered);
  // A connection that was kept and broke is tried once more before anybody hears of it.
  const lost = errors.find(({ code }) => code === "lost")?.times ?? 0;
  const busy = (status: number) => errors.find(({ code }) => code === `busy ${status}`)?.times ?? 0;
  t.is(busy(503) + busy(429), spoilt - Math.floor(spoilt / 3));
  t.is(retries, busy(503) + busy(429) + lost);
});

anyTest(
  "bytes of an image that came twice are those that the lamp's connections handed out twice",
  async (t) => {
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
      const stopped = lamp.agent.stop();
      await lamp.machine.clock.advance(0);
      await stopped;
      lamp.agent.start();
      let twice = 0;
      await lamp.until(() => {
        if (lamp.version === "1.0.0" && health) twice = health().fetchedTwice;
        return lamp.version === "2.0.0";
      });
      t.is(twice, served() - size, `${connections} connections`);
      t.true(twice > 0, `${twice}`);
    }
  },
);

test("the codes seen last outlive a restart, each with how often and when", async (t) => {
  const rig = startRig(t);
  const first = start(rig);
  await rig.clock.advance(5000);
  rig.platform.fault = (request) => (isPoll(request) ? undefined : { status: 503 });
  first.agent.telemetry.record({ n: 1 });
  await rig.clock.advance(20 * MINUTE);
  t.throws(() => first.agent.telemetry.record({ bad: Number.NaN }), { code: "BAD_VALUE" });
  await rig.clock.advance(20 * MINUTE);
  const before = first.diagnostics.health.errors;
  t.deepEqual(before.map(({ code }) => code).sort(), ["BAD_VALUE", "busy 503"]);
  rig.powerOff();
  first.diagnostics.close();
  await rig.clock.advance(0);
  rig.platform.fault = undefined;
  const second = start(rig);
  await rig.clock.advance(2 * HOUR);
  t.deepEqual(second.diagnostics.health.errors.map(({ code }) => code).sort(), ["BAD_VALUE", "busy 503"]);
  const shown = rig.platform.attributes(rig.platform.device(NAME)).moteErrors;
  t.regex(String(shown), /^(BAD_VALUE, )?\d+x busy 503(, BAD_VALUE)?$/);
  for (const { at } of second.diagnostics.health.errors)
    t.true(Math.abs(at - rig.clock.wall()! / 1000) < 3 * 3600, String(at));
  await stop(rig, second);
});

test("an operator reads all of it by the RPC mote.health, and it runs again after a restart that lost the answer", async (t) => {
  const rig = startRig(t);
  const running = start(rig, { reset: "panic", freeMemory: () => 12_345 });
  await rig.clock.advance(5000);
  const device = rig.platform.device(NAME);
  rig.platform.fault = ({ body }) => (body.includes("poison") ? { status: 400 } : undefined);
  running.agent.telemetry.record({ poison: 1 });
  rig.platform.rpc(device, "nobody", {});
  await rig.clock.advance(5000);
  const results = rig.platform.rpc(device, "mote.health", null);
  await rig.clock.advance(5000);
  const health = JSON.parse((results[0] as { text: string }).text);
  t.like(health, {
    state: "online",
    queueDepth: 0,
    dropped: { full: 0, refused: 1, unreadable: 0 },
    malformedAnswers: 0,
    fetchedTwice: 0,
    leastFree: 12_345,
    resets: { panic: 1 },
  });
  t.is(health.upSeconds, 10);
  t.true(health.roundTrips > 3);
  t.like(health.errors, [{ code: "rpc METHOD_NOT_FOUND", times: 1 }]);
  t.false(rig.store.changes.slice(-3).includes("rpc0") && rig.store.values.has("rpc0"));
  await stop(rig, running);
});

// What of a device's health outlives a restart: bounded, whatever is noted, whatever was stored, and however often it is written.

const DAY = 24 * HOUR;
const KEY = "health";

anyTest("what is stored is read again, and what makes no sense is taken for nothing", (t) => {
  const host = fakeHost();
  const record = new HealthRecord(host);
  record.publishedAt = 1_767_225_600_000;
  record.started("power on");
  record.started("power on");
  record.note("lost", 1_767_225_600);
  t.true(record.save());
  const again = new HealthRecord(host);
  t.deepEqual(
    [again.publishedAt, again.resets, again.errors],
    [record.publishedAt, record.resets, record.errors],
  );
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    '{"at":-1,"resets":7,"errors":{"0":1}}',
    '{"at":1e400,"resets":[null,[7,7],["x"]],"errors":[["y",1.5,-7],[]]}',
    `{"errors":[["${"z".repeat(4000)}",1,1]]}`,
    `{"errors":${JSON.stringify(Array(200).fill(["q", 1, 1]))}}`,
  ]) {
    host.store.values.set(KEY, new Uint8Array([1, ...new TextEncoder().encode(text)]));
    const read = new HealthRecord(host);
    t.true(read.errors.length <= 16 && read.resets.length <= 16, text.slice(0, 40));
    t.notThrows(() => read.save());
  }
  host.store.values.set(KEY, Uint8Array.of(9, 0xff, 0xfe));
  t.is(new HealthRecord(host).errors.length, 0);
});

anyTest("the value stays below 1.3 KB, whatever reasons and codes there are", (t) => {
  const host = fakeHost();
  const record = new HealthRecord(host);
  record.publishedAt = Date.UTC(2099, 0, 1);
  for (let n = 0; n < 100; n++) record.started(`${"ä".repeat(4)}${n}${"r".repeat(200)}`);
  for (let n = 0; n < 100; n++)
    for (let i = 0; i < 20; i++) record.note(`refused provisioning ${n}`, 4_070_908_800);
  t.true(record.save());
  t.is(record.resets.length, 16);
  t.true((host.store.get(KEY)?.length ?? 0) <= 1300 + 200, String(host.store.get(KEY)?.length));
});

anyTest("a day of new codes every second takes 168 writes at the most, and a quiet one 24", async (t) => {
  for (const [codes, most] of [
    [true, 168],
    [false, 24],
  ] as const) {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const host = fakeHost({ clock });
    const agent = new FakeAgent();
    const diagnostics = new Diagnostics(agent, host);
    for (let at = 0; at < DAY; at += 1000) {
      agent.counters.roundTrips++;
      if (codes) agent.emit("error", { code: `busy ${at / 1000}` });
      else agent.emit("error", { code: "lost" });
      await clock.advance(1000);
    }
    const writes = host.store.changes.filter((key) => key === KEY).length;
    t.true(writes <= most + 2, `${writes} writes`);
    t.true(agent.published.length <= 24);
    diagnostics.close();
  }
});

const POWER_ON = { reset: "power on", crash: false } as const;

anyTest("a start takes one write if it is counted, and a wake from sleep none", (t) => {
  const host = fakeHost({ lastRun: POWER_ON });
  new Diagnostics(new FakeAgent(), host).close();
  t.deepEqual(host.store.changes, [KEY]);
  const woken = { ...host, lastRun: { reset: "deep sleep", crash: false as const, sleptMs: 60_000 } };
  for (let n = 0; n < 100; n++) new Diagnostics(new FakeAgent(), woken).close();
  t.deepEqual(host.store.changes, [KEY]);
});

anyTest("what was noted shortly before a restart that the agent asks for is stored", (t) => {
  const host = fakeHost();
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, host);
  agent.emit("error", { code: "lost" });
  agent.emit("error", { code: "fw selfTest" });
  agent.emit("restart", { reason: "firmware" });
  diagnostics.close();
  t.deepEqual(
    new HealthRecord(host).errors.map(({ code }) => code),
    ["lost", "fw selfTest"],
  );
});

anyTest("a store that takes nothing is reported, and harms nothing", async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const host = fakeHost({ clock, lastRun: { reset: "panic", crash: "any" } });
  host.store.fails = () => true;
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, host);
  agent.emit("error", { code: "lost" });
  await clock.advance(3 * HOUR);
  t.is(agent.published.length, 1);
  t.like(diagnostics.health, { resets: { panic: 1 }, errors: [{ code: "lost" }] });
  t.true(host.lines.length > 0 && host.lines.length < 10);
  diagnostics.close();
});

anyTest(
  "attributes that leave no room are no failure: it is tried again an hour later, and the RPC has all",
  async (t) => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const host = fakeHost({ clock });
    const agent = new FakeAgent();
    agent.onPublish = () => {
      throw new Error("no room");
    };
    const diagnostics = new Diagnostics(agent, host);
    await clock.advance(3 * HOUR);
    t.is(host.lines.length, 3);
    agent.onPublish = () => {};
    await clock.advance(HOUR);
    t.is(agent.published.length, 1);
    diagnostics.close();
  },
);

anyTest("the answer of mote.health is no longer than the agent's limit: older codes give way", (t) => {
  const agent = new FakeAgent();
  const diagnostics = new Diagnostics(agent, fakeHost({ lastRun: POWER_ON }));
  for (let n = 0; n < 30; n++) agent.emit("error", { code: `refused ${400 + n}` });
  t.is((agent.handler(null) as { errors: unknown[] }).errors.length, 16);
  agent.rpc.answerBytes = 512;
  const { errors } = agent.handler(null) as { errors: { code: string }[] };
  t.true(errors.length > 0 && errors.length < 16);
  t.is(errors.at(-1)?.code, "refused 429");
  t.true(JSON.stringify(agent.handler(null)).length <= 512);
  diagnostics.close();
});

anyTest("memory is looked at once a minute, and the least is kept", async (t) => {
  const clock = new FakeClock(undefined);
  let free = 1000;
  const diagnostics = new Diagnostics(new FakeAgent(), fakeHost({ clock }), { freeMemory: () => free });
  await clock.advance(MINUTE);
  free = 10;
  await clock.advance(MINUTE);
  free = 500;
  await clock.advance(MINUTE);
  t.is(diagnostics.health.leastFree, 10);
  diagnostics.close();
});
