// Wakes of a device that sleeps in between.
import ava from "ava";
import fc from "fast-check";
import { ReportOnChange } from "../../../../extras/report-on-change/index.js";
import { readMemory, writeMemory } from "../../../../src/agent/lifecycle/memory.js";
import { measureRate } from "../../../../src/agent/time/time.js";
import type { FakeFlash } from "../../../fakes/flash.js";
import { storedBytes } from "../../../fakes/stored.js";
import { NAME, startRig, test } from "../rig.js";
import { Sleeper } from "../sleeper.js";

const MINUTE = 60_000;
const cycle = { everyMs: MINUTE, connectEvery: 10 };

/** What a request asks for, without token and values. */
const kinds = (seen: readonly { method: string; path: string }[]): string[] =>
  seen.map(({ method, path }) => `${method} ${/^\/api\/v1\/(?:[^/]+\/)?([a-z]+)/.exec(path)?.[1]}`);

test("the first wake connects, the others record only, until one is due; all points arrive", async (t) => {
  const device = new Sleeper(t, { cycle });
  const first = await device.wake();
  t.is(first.reason, "start");
  t.true(first.connected && first.idle);
  t.deepEqual([first.delivered, first.waiting], [1, 0]);
  const wakes = await device.wakes(40);
  const connected = wakes.flatMap(({ reason }, i) => (reason === "schedule" ? [i] : []));
  t.true(connected.length >= 4, `${connected}`);
  for (const gap of connected.slice(1).map((at, i) => at - connected[i]!)) t.is(gap, 10);
  const others = wakes.filter(({ reason }) => reason === "none");
  t.true(others.every(({ radioMs, connected: on }) => radioMs === 0 && !on));
  const arrived = device.points;
  t.deepEqual(arrived, [...Array(arrived.length).keys()]);
  t.is(arrived.length + device.last!.waiting, 41);
});

test("a wake that only records writes one record and no log, and uses no connection or radio", async (t) => {
  const device = new Sleeper(t, { cycle });
  await device.wake();
  const { rig } = device;
  const logged = rig.host.lines.length;
  const [opened, stored, written] = [rig.net.peers.length, rig.store.changes.length, rig.host.blocks.changes];
  let joined = 0;
  const network = () => {
    joined++;
    return true;
  };
  const wakes = [];
  for (let reason = "none"; reason === "none"; ) {
    const wake = await device.wake({ network });
    ({ reason } = wake);
    if (reason === "none") wakes.push(wake);
    if (reason === "none")
      t.deepEqual([rig.net.peers.length, rig.store.changes.length, joined], [opened, stored, 0]);
    if (reason === "none") t.is(rig.host.blocks.changes, written + wakes.length);
  }
  t.deepEqual(rig.host.lines.slice(logged), []);
  t.is(joined, 1);
});

test("a wake that connects needs one connection and three requests", async (t) => {
  const firmware = { title: "lamp", version: "1.0.0" };
  const device = new Sleeper(t, { cycle, connections: 3, firmware });
  await device.wake();
  const { rig } = device;
  while ((await device.wake()).reason === "none");
  await device.wakes(9);
  const [peers, requests] = [rig.net.peers.length, rig.platform.seen.length];
  const wake = await device.wake();
  t.is(wake.reason, "schedule");
  t.is(wake.delivered, 10);
  t.is(rig.net.peers.length - peers, 1);
  t.deepEqual(kinds(rig.platform.seen.slice(requests)).sort(), [
    "GET attributes",
    "GET rpc",
    "POST telemetry",
  ]);
  t.true(wake.radioMs < 1500, `${wake.radioMs}`);
  t.true(rig.net.peers.every((peer) => peer.closed));
});

test("a wake after power-on reads the attributes once, and stays awake for an update", async (t) => {
  const firmware = { title: "lamp", version: "1.0.0" };
  const device = new Sleeper(t, { cycle, firmware });
  await device.wake();
  const { platform } = device.rig;
  const reads = async () => {
    const from = platform.seen.length;
    // The memory was lost with the power.
    device.kept = undefined;
    const { idle } = await device.wake();
    return {
      idle,
      reads: kinds(platform.seen.slice(from)).filter((kind) => kind === "GET attributes").length,
    };
  };
  t.deepEqual(await reads(), { idle: true, reads: 1 });
  platform.setShared(platform.device(NAME), { fw_title: "lamp", fw_version: "1.0.0" });
  t.true((await reads()).reads > 1);
});

test("an alarm leaves at once, and the schedule goes on from there", async (t) => {
  const device = new Sleeper(t, { cycle });
  await device.wake();
  while ((await device.wake()).reason === "none");
  const alarm = await device.wake({ sample: () => ({ values: { n: -1, smoke: true }, alarm: true }) });
  t.deepEqual([alarm.reason, alarm.delivered, alarm.waiting], ["alarm", 1, 0]);
  t.true(device.points.includes(-1));
  const calm = await device.wakes(9, { sample: () => ({ values: { n: 1 }, alarm: false }) });
  t.true(calm.every(({ reason }) => reason === "none"));
  t.is((await device.wake()).reason, "schedule");
});

test("an unreported alarm is tried again after about 1, 2, 4 wakes, however often it repeats", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1000 } });
  await device.wake();
  device.rig.platform.fault = () => "drop";
  const attempts: number[] = [];
  for (let i = 0; i < 200; i++) {
    const wake = await device.wake({ sample: () => ({ values: { n: i }, alarm: true }) });
    if (wake.reason !== "none") attempts.push(i);
  }
  t.true(attempts.length >= 6 && attempts.length <= 10, `${attempts}`);
  device.rig.platform.fault = undefined;
  while (device.last!.waiting > 0) await device.wake({ sample: () => undefined });
  t.is(device.points.length, 201);
});

test("an outbox that is half full connects", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 10_000 } });
  await device.wake();
  const text = "x".repeat(1000);
  let reason = "none";
  let wakes = 0;
  for (; reason === "none"; wakes++) ({ reason } = await device.wake({ sample: () => ({ text }) }));
  t.is(reason, "outbox");
  // Three records of 1 KiB in each of 16 sectors.
  t.true(wakes >= 20 && wakes <= 25, `${wakes}`);
  t.is(device.last!.waiting, 0);
});

test("a sample that fails, can't be recorded or never comes costs its point and nothing else", async (t) => {
  for (const sample of [
    () => Promise.reject(new Error("no sensor")),
    () => 5 as never,
    () => ({ values: { a: () => 0 }, alarm: true }),
    () => new Promise<undefined>(() => {}),
  ]) {
    const device = new Sleeper(t, { cycle });
    const wake = await device.wake({ sample });
    t.true(wake.connected && wake.idle);
    t.is(wake.waiting + wake.delivered, 0);
    t.is((await device.wake()).waiting, 1);
  }
});

test("a sample's bad value is left out, and logged once over all wakes", async (t) => {
  const device = new Sleeper(t, { cycle });
  const hosts = new Set<{ lines: readonly string[] }>();
  device.setUp = () => hosts.add(device.rig.host);
  let n = 0;
  await device.wakes(6, { sample: () => ({ n: n++, humidity: NaN, list: { a: null } }) });
  await device.wakes(10, { sample: () => ({ values: { n: n++, humidity: undefined }, alarm: false }) });
  while (device.last!.waiting > 0) await device.wake({ sample: () => undefined });
  t.deepEqual(device.points, [...Array(16).keys()]);
  const lines = [...hosts].flatMap((host) => host.lines).filter((line) => line.includes("left out"));
  t.is(lines.length, 2, `${lines}`);
});

test("a sample with a value beside its values is refused, which the log says", async (t) => {
  const device = new Sleeper(t, { cycle });
  const wake = await device.wake({ sample: () => ({ values: { n: 1 }, temperature: 2 }) as never });
  t.is(wake.waiting + wake.delivered, 0);
  t.true(device.rig.host.lines.some((line) => line.includes('"temperature" is beside "values"')));
});

const drag: Readonly<Record<string, (device: Sleeper) => void>> = {
  "nobody answers": ({ rig }) => {
    rig.platform.fault = () => "hang";
  },
  "no connection comes about": ({ rig }) => {
    rig.net.onConnect = () => false;
  },
  "a handler never ends": (device) => {
    device.setUp = (agent) => agent.rpc.handle("wait", () => new Promise(() => {}), { timeoutMs: 60_000 });
    device.rig.platform.rpc(device.rig.device, "wait", {}, { timeoutMs: 60_000 });
  },
};
for (const [what, begin] of Object.entries(drag))
  test(`when ${what} a wake ends by its deadline, with all connections closed`, async (t) => {
    const device = new Sleeper(t, { cycle });
    await device.wake();
    begin(device);
    const { clock, net } = device.rig;
    const began = clock.now();
    await device.run(device.boot(), { timeoutMs: 12_000, connect: true, kept: device.kept });
    t.true(clock.now() - began <= 12_000);
    // For the word of it to reach the other side, and for the handler's own end.
    await clock.advance(60_000);
    t.true(net.peers.every((peer) => peer.closed));
  });

test("runOnce and start exclude each other", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ cycle });
  agent.start();
  await t.throwsAsync(agent.runOnce(), { code: "BUSY" });
  await agent.stop();
  const wake = agent.runOnce();
  t.throws(() => agent.start(), { code: "BUSY" });
  await t.throwsAsync(agent.runOnce(), { code: "BUSY" });
  await rig.clock.advance(10_000);
  t.true((await wake).idle);
  for (const timeoutMs of [Number.NaN, "5" as never])
    await t.throwsAsync(agent.runOnce({ timeoutMs }), { code: "BAD_VALUE" });
  agent.start();
  await rig.clock.advance(10_000);
  t.is(agent.state, "online");
  t.is(
    rig.platform.seen.filter(({ path }) => path.includes("timeout=25000")).length,
    1,
    "polls are long again",
  );
});

for (const end of ["stop", "reset"] as const) {
  test(`${end}() while the sample is taken ends a wake before it connects`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ cycle });
    let joined = false;
    const wake = agent.runOnce({
      sample: async () => {
        await agent[end]();
        return { n: 1 };
      },
      network: () => {
        joined = true;
        return true;
      },
    });
    await rig.clock.advance(30_000);
    const { connected, waiting } = await wake;
    t.deepEqual([connected, waiting, joined, rig.platform.seen.length], [false, 1, false, 0]);
    const next = agent.runOnce();
    await rig.clock.advance(30_000);
    t.true((await next).connected, "the next wake is one as ever");
  });
}

test("a wake is not done before what was published is on the platform", async (t) => {
  const device = new Sleeper(t, { cycle });
  await device.wake();
  const { rig } = device;
  let refusals = 2;
  rig.platform.fault = ({ method, path }) =>
    method === "POST" && path.endsWith("/attributes") && refusals-- > 0 ? { status: 503 } : undefined;
  device.setUp = (agent) => agent.attributes.publish({ count: 7 });
  const wake = await device.wake({ connect: true });
  t.true(wake.idle);
  t.is(rig.platform.attributes(rig.device).count, 7);
});

ava("devices switched on together spread over the wakes between two uploads", async (t) => {
  const turns = new Map<number, number>();
  for (let seed = 0; seed < 60; seed++) {
    const device = new Sleeper(t, { cycle });
    for (let i = 0; i <= seed; i++) device.boot();
    await device.wake();
    let wakes = 1;
    while ((await device.wake()).reason === "none") wakes++;
    turns.set(wakes, (turns.get(wakes) ?? 0) + 1);
  }
  t.true(turns.size >= 8, `${[...turns]}`);
  t.true(Math.max(...turns.values()) <= 20, `${[...turns]}`);
});

const text = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};

/** A text with a checksum that fits, whatever it says. */
const sealed = (said: string): string => text.decode(storedBytes(said));

/** A memory, each member with a value of its own. */
const KEPT = sealed(
  JSON.stringify({
    ...{ wakes: 7, wakesLeft: 3, backoffWakes: 4.5, urgent: 1 },
    ...{ sleepMs: 59_950, radioMs: 8123, points: 21, loggedMs: 77, loggedKeySet: 5 },
    time: {
      ...{ endedAt: 1_700_000_000_123, ticks: 456_789, exactFrom: 12 },
      ...{ syncedAt: 1_699_999_000_000, sinceSyncMs: 700_123.5, rate: 1.0123 },
    },
    update: { busy: 0, assignmentHash: 305_419_896, state: "failed", retryMs: 90_000 },
    telemetry: { limit: 1, losses: 4, probed: 33 },
    attributes: { limit: 1, losses: 5, probed: 0 },
  }),
);

ava("a memory is written as it was read", (t) => {
  t.is(writeMemory(text, readMemory(text, KEPT)), KEPT);
});

test("a wake continues from the memory of the wake before", async (t) => {
  const firmware = { title: "lamp", version: "1.0.0" };
  const device = new Sleeper(t, { cycle, connections: 3, firmware });
  await device.rig.clock.advance(5 * MINUTE);
  device.kept = KEPT;
  const left = async (how: Parameters<typeof device.wake>[0]) =>
    readMemory(text, (await device.wake(how)).kept);
  t.deepEqual(await left({ sleptMs: 50_000 }), {
    ...{ wakes: 8, wakesLeft: 2, backoffWakes: 4.5, urgent: 1, sleepMs: 59_271 },
    ...{ radioMs: 8123, points: 21, loggedMs: 50_077, loggedKeySet: 5 },
    time: {
      ...{ endedAt: 1_767_225_900_000, ticks: 507_404, exactFrom: 12 },
      ...{ syncedAt: 1_767_225_900_000, sinceSyncMs: 0, rate: 1.0123 },
    },
    update: { busy: 0, assignmentHash: 305_419_896, state: "failed", retryMs: 40_000 },
    telemetry: { limit: 1, losses: 4, probed: 50_033 },
    attributes: { limit: 1, losses: 5, probed: 0 },
  });
  t.like(await left({ connect: true, sleptMs: 61_000 }), {
    wakes: 9,
    wakesLeft: 1,
    sleepMs: 60_426,
    time: { endedAt: 1_767_225_959_271, ticks: 569_154, sinceSyncMs: 61_000 },
    update: { retryMs: 0 },
    telemetry: { probed: 111_033 },
  });
  const [, connected] = await device.wakes(2);
  t.like(readMemory(text, connected!.kept), {
    update: { busy: 0, assignmentHash: 0, state: "idle", retryMs: -1 },
    telemetry: { limit: 0, losses: 0, probed: 0 },
  });
});

ava("the machine's own clock is measured between known times, ten minutes apart at least", (t) => {
  const memory = readMemory(text, undefined).time;
  let now = 1e12;
  // The last rates are impossible: somebody set a clock.
  for (const [ms, rate, measured] of [
    [5000, 1, 1],
    [600_000, 1.05, 1.05],
    [599_999, 1.02, 1.05],
    [1, 1.02, 1.02],
    [600_000, 0.84, 1.02],
    [600_000, 1.16, 1.02],
  ] as const) {
    memory.sinceSyncMs += ms;
    now += ms * rate;
    measureRate(memory, now);
    t.is(Math.round(memory.rate * 1e6), measured * 1e6, `${ms} ms at ${rate}`);
  }
});

ava("a memory of the last wake that makes no sense is taken for none, and so is a single wrong bit", (t) => {
  const host = text;
  const fresh = readMemory(host, undefined);
  const memory = { ...fresh, wakes: 7, wakesLeft: 3 };
  const sound = writeMemory(host, memory);
  t.deepEqual(readMemory(host, sound), memory);
  const time = {
    ...fresh.time,
    endedAt: 1e13,
    ticks: 1e13,
    syncedAt: 1e13,
    sinceSyncMs: 123_456.789,
    rate: 1.0123456789,
  };
  const update = { ...fresh.update, state: "downloading" };
  t.true(writeMemory(host, { ...fresh, time, update }).length <= 450);
  const json = sound.slice(sound.indexOf("{"));
  for (const bad of ["", "{}", "[1]", "{", json.replace("7", "-7"), json.replace("7", "1e999")])
    t.deepEqual(readMemory(host, sealed(bad)), fresh, bad);
  for (let at = 0; at < sound.length; at++)
    for (let bit = 0; bit < 7; bit++) {
      const flipped = String.fromCharCode(sound.charCodeAt(at) ^ (1 << bit));
      t.deepEqual(readMemory(host, sound.slice(0, at) + flipped + sound.slice(at + 1)), fresh);
    }
  const edited = fc
    .record({ at: fc.nat(), to: fc.string() })
    .map(({ at, to }) => json.slice(0, at % json.length) + to + json.slice((at % json.length) + 1));
  fc.assert(
    fc.property(fc.oneof(fc.json(), edited), (said) => {
      const { time, update, telemetry, attributes, ...others } = readMemory(host, sealed(said));
      const { rate, ...counts } = { ...time, ...update, ...telemetry, ...attributes, ...others };
      const isCount = (value: unknown) =>
        typeof value === "string" || (Number(value) >= -1 && Number(value) < 2 ** 53);
      return rate > 0.8 && rate < 1.25 && Object.values(counts).every(isCount);
    }),
  );
});

test("a sleep that makes no sense is taken for the one that was asked for", async (t) => {
  const [device, other] = [new Sleeper(t, { cycle }), new Sleeper(t, { cycle })];
  await device.wake();
  await other.wake();
  for (const sleptMs of [Number.POSITIVE_INFINITY, Number.NaN, -5, 1e11, 1e300, "x" as never]) {
    const wake = await device.wake({ sleptMs, connect: true });
    t.is(wake.idle, true, `${sleptMs}`);
    t.is(wake.kept, (await other.wake({ connect: true })).kept, `${sleptMs}`);
  }
  t.true(device.points.length === 7);
});

test("a sleeping device logs once a day which values a failing store does not take", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: 10 * MINUTE, connectEvery: 1 } });
  let reports: ReportOnChange | undefined;
  device.setUp = (agent) => {
    agent.attributes.subscribe("mode", () => {});
    reports = new ReportOnChange(agent, device.rig.host, { keys: { n: { onChange: 1 } }, keep: true });
  };
  await device.wake();
  const { rig } = device;
  rig.store.fails = () => true;
  const logged = async (wakes: number): Promise<string[]> => {
    const lines: string[] = [];
    for (let i = 0; i < wakes; i++) {
      rig.platform.setShared(rig.device, { mode: `${rig.clock.now()}` });
      await device.wake({ sample: () => reports?.record({ n: rig.clock.now() }) as undefined });
      lines.push(...rig.host.lines);
    }
    return lines;
  };
  const first = await logged(3);
  t.true(first.length > 1 && first.length <= 5, first.join("\n"));
  t.deepEqual(await logged(100), []);
  t.deepEqual((await logged(50)).sort(), first.sort());
});

test("a sleeping device logs broken storage once a day", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: 10 * MINUTE, connectEvery: 1000 } });
  await device.wake();
  const { rig } = device;
  rig.store.fails = () => true;
  (rig.host.blocks as FakeFlash).fails = () => true;
  const logged = async (wakes: number): Promise<string[]> => {
    const lines: string[] = [];
    for (let i = 0; i < wakes; i++) {
      await device.wake();
      lines.push(...rig.host.lines.filter((line) => !line.includes("points dropped")));
    }
    return lines;
  };
  const first = await logged(3);
  t.true(first.length > 0 && first.length <= 3, first.join("\n"));
  t.deepEqual(await logged(100), []);
  t.deepEqual(await logged(50), first);
});
