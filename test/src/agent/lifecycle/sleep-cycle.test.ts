// Wakes of a device that sleeps in between.
import ava from "ava";
import fc from "fast-check";
import { readMemory, writeMemory } from "../../../../src/agent/lifecycle/wake.js";
import { measureRate } from "../../../../src/agent/time/time.js";
import { crc32 } from "../../../../src/wire/crypto/crc32.js";
import { details, NAME, startRig, test } from "../rig.js";
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

test("a wake that only records opens no connection, switches no radio on, and writes one record and nothing else", async (t) => {
  const device = new Sleeper(t, { cycle });
  await device.wake();
  const { rig } = device;
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
  t.is(joined, 1);
});

test("a wake that connects needs one connection and three requests: attributes, telemetry, and a poll of a second", async (t) => {
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

test("without an assigned update a wake after power-on reads the attributes once, and with one it stays awake", async (t) => {
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

test("an alarm that can't be reported is tried again after 1, 2, 4 wakes, give or take, however often it is repeated", async (t) => {
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

for (const [title, sample] of [
  [
    "throws",
    () => {
      throw new Error("no sensor");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no sensor"))],
  ["is no object", () => 5 as never],
  ["can't be recorded", () => ({ temperature: Number.NaN })],
  ["holds what can't be recorded", () => ({ values: { a: () => 0 }, alarm: true })],
  ["never comes", () => new Promise<undefined>(() => {})],
] as const) {
  test(`a sample that ${title} costs its point and nothing else`, async (t) => {
    const device = new Sleeper(t, { cycle });
    const wake = await device.wake({ sample: sample as never });
    t.true(wake.connected && wake.idle);
    t.is(wake.waiting + wake.delivered, 0);
    t.is((await device.wake()).waiting, 1);
  });
}

test("a sample may come late, and what it gives is recorded", async (t) => {
  const device = new Sleeper(t, { cycle });
  const { clock } = device.rig;
  const sample = () => new Promise<{ n: number }>((resolve) => clock.timer(3000, () => resolve({ n: 7 })));
  t.is((await device.wake({ sample })).delivered, 1);
  t.deepEqual(device.points, [7]);
});

for (const [title, spoil] of [
  [
    "nobody answers",
    (device: Sleeper) => {
      device.rig.platform.fault = () => "hang";
    },
  ],
  [
    "no connection comes about",
    (device: Sleeper) => {
      device.rig.net.onConnect = () => false;
    },
  ],
  [
    "the platform is busy",
    (device: Sleeper) => {
      device.rig.platform.fault = () => ({ status: 503 });
    },
  ],
  [
    "a handler never ends",
    (device: Sleeper) => {
      device.setUp = (agent) => agent.rpc.handle("wait", () => new Promise(() => {}), { timeoutMs: 60_000 });
      device.rig.platform.rpc(device.rig.platform.device(NAME), "wait", {}, { timeoutMs: 60_000 });
    },
  ],
  [
    "the platform does not answer while an update is fetched",
    (device: Sleeper) => {
      device.rig.platform.fault = ({ path }) => (path.includes("firmware") ? "hang" : undefined);
    },
  ],
] as const) {
  test(`when ${title} a wake ends by its deadline, with all connections closed`, async (t) => {
    const firmware = { title: "lamp", version: "1.0.0", allowHttp: true };
    const device = new Sleeper(t, { cycle, firmware });
    await device.wake();
    spoil(device);
    const { clock, net } = device.rig;
    const began = clock.now();
    const timeoutMs = 12_000;
    await device.run(device.boot(), { timeoutMs, connect: true, kept: device.kept });
    const took = clock.now() - began;
    t.true(took <= timeoutMs, `${took} ms`);
    // For the word of it to reach the other side, and for the handler's own end.
    await clock.advance(60_000);
    t.true(net.peers.every((peer) => peer.closed));
  });
}

test("a network that never comes is waited for until the deadline, and counts as an attempt that failed", async (t) => {
  const device = new Sleeper(t, { cycle });
  const { clock, net } = device.rig;
  const wake = await device.run(device.boot(), {
    timeoutMs: 5000,
    network: () => new Promise(() => {}),
    sample: () => ({ n: 1 }),
  });
  t.true(clock.now() <= 5000);
  t.deepEqual([wake.reason, wake.connected, wake.waiting], ["start", false, 1]);
  t.is(net.peers.length, 0);
  t.true(wake.radioMs > 4000);
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

test("stop() ends a wake", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ cycle });
  const wake = agent.runOnce({ sample: () => ({ n: 1 }) });
  await rig.clock.advance(5);
  await agent.stop();
  await rig.clock.advance(200);
  t.deepEqual([(await wake).idle, agent.state], [false, "stopped"]);
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

test("the same agent may wake again and again", async (t) => {
  const device = new Sleeper(t, { cycle });
  const agent = device.boot();
  let n = 0;
  const reasons: string[] = [];
  for (let i = 0; i < 25; i++) {
    const wake = await device.run(agent, { sample: () => ({ n: n++ }) });
    reasons.push(wake.reason);
    await device.rig.clock.advance(wake.sleepMs);
  }
  t.is(device.last!.wakes, 25);
  t.true(reasons.filter((reason) => reason === "schedule").length >= 2, `${reasons}`);
  t.deepEqual(device.points, [...Array(device.points.length).keys()]);
});

test("RPCs that wait at a wake are answered in it, one after the other, and what they record leaves with it", async (t) => {
  const device = new Sleeper(t, { cycle });
  await device.wake();
  const { rig } = device;
  device.setUp = (agent) =>
    agent.rpc.handle("read", (params) => {
      agent.telemetry.record({ read: params });
      return params;
    });
  const to = rig.platform.device(NAME);
  const results = [1, 2, 3].map((n) => rig.platform.rpc(to, "read", n, { timeoutMs: 30 * MINUTE }));
  const wake = await device.wake({ connect: true });
  t.deepEqual(
    results.map(([result]) => result?.kind === "answer" && result.text),
    ["1", "2", "3"],
  );
  t.true(wake.idle);
  t.deepEqual(
    rig.platform.points(to, "read").map(({ value }) => value),
    [1, 2, 3],
  );
});

test("shared attributes changed during the sleep are seen at the next wake that connects, client attributes reach the platform", async (t) => {
  const device = new Sleeper(t, { cycle });
  const seen: unknown[] = [];
  device.setUp = (agent) => {
    agent.attributes.subscribe("interval", (value) => seen.push(value));
    agent.attributes.publish({ model: "garden" });
  };
  await device.wake();
  const { platform } = device.rig;
  platform.setShared(platform.device(NAME), { interval: 5 });
  await device.wake({ connect: true });
  t.deepEqual(seen, [5]);
  t.like(platform.attributes(platform.device(NAME)), { model: "garden" });
  platform.deleteShared(platform.device(NAME), ["interval"]);
  await device.wake({ connect: true });
  t.is(seen.at(-1), undefined);
});

test("a token that the platform does not know ends the wake soon, and is asked about ever more rarely", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 5 } });
  await device.wake();
  const { rig } = device;
  rig.platform.core.devices.delete(rig.platform.device(NAME));
  let attempts = 0;
  let radioMs = 0;
  for (let i = 0; i < 24 * 60; i++) {
    const wake = await device.wake();
    if (wake.reason === "none") continue;
    attempts++;
    radioMs += wake.radioMs;
  }
  t.true(attempts <= 14, `${attempts}`);
  t.true(radioMs < 1000, `${radioMs}`);
  t.is(details(rig, "refused").length, attempts);
});

test("a day without a platform costs a few attempts, loses nothing, and ends within 9 hours of its return", async (t) => {
  const device = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 60 } });
  await device.wake();
  const { rig } = device;
  rig.platform.fault = () => "hang";
  let [attempts, radioMs] = [0, 0];
  for (let i = 0; i < 24 * 60; i++) {
    const wake = await device.wake();
    if (wake.reason === "none") continue;
    attempts++;
    radioMs += wake.radioMs;
  }
  t.log(`${attempts} attempts, ${Math.round(radioMs / 1000)} s of radio`);
  t.true(attempts <= 9 && radioMs <= attempts * 30_000, `${attempts}, ${radioMs}`);
  rig.platform.fault = undefined;
  let wakes = 0;
  for (; device.last!.waiting > 0; wakes++) await device.wake();
  t.true(wakes <= 9 * 60, `${wakes}`);
  t.deepEqual(device.points, [...Array(device.points.length).keys()]);
});

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
  t.is(rig.platform.attributes(rig.platform.device(NAME)).count, 7);
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

const encode = (text: string) => new TextEncoder().encode(text);

/** A text with a checksum that fits, whatever it says. */
function sealed(text: string): string {
  const bytes = encode(text);
  return `${crc32(bytes, 0, bytes.length)}${text}`;
}

ava(
  "the machine's own clock is measured from one known time to the next, ten minutes apart at the least",
  (t) => {
    const memory = readMemory({ encode }, undefined);
    const pass = (ms: number, rate: number, from: number): number => {
      memory.own += ms;
      measureRate(memory, from + ms * rate);
      return from + ms * rate;
    };
    let now = pass(5000, 1, 1e12);
    t.is(memory.rate, 1);
    now = pass(600_000, 1.05, now);
    t.is(memory.rate, 1.05);
    // Too short to measure; it counts with the rest.
    const before = now;
    pass(599_999, 0.9, now);
    t.is(memory.rate, 1.05);
    now = before + 599_999 * 1.02;
    now = pass(1, 1.02, now);
    t.is(Math.round(memory.rate * 1e6), 1_020_000);
    // No machine is so wrong: somebody set a clock.
    for (const rate of [0.84, 1.16, -3]) {
      now = pass(600_000, rate, now);
      t.is(Math.round(memory.rate * 1e6), 1_020_000);
    }
  },
);

ava("what makes no sense as memory of the last wake is taken for none, and so is a single wrong bit", (t) => {
  const host = { encode };
  const fresh = readMemory(host, undefined);
  const memory = { ...fresh, wakes: 7, due: 3 };
  const sound = writeMemory(host, memory);
  t.deepEqual(readMemory(host, sound), memory);
  const long = {
    at: 1e13,
    ticks: 1e13,
    told: 1e13,
    own: 123_456.789,
    rate: 1.0123456789,
    state: "downloading",
  };
  t.true(writeMemory(host, { ...fresh, ...long }).length <= 400);
  const text = sound.slice(sound.indexOf("{"));
  for (const bad of [
    "",
    "{}",
    "null",
    "[1]",
    "{",
    text.replace("7", "-7"),
    text.replace(":1,", ":2,"),
    text.replace("7", "1e999"),
  ])
    t.deepEqual(readMemory(host, sealed(bad)), fresh, bad);
  for (let at = 0; at < sound.length; at++) {
    for (let bit = 0; bit < 7; bit++) {
      const flipped = String.fromCharCode(sound.charCodeAt(at) ^ (1 << bit));
      const torn = sound.slice(0, at) + flipped + sound.slice(at + 1);
      t.deepEqual(readMemory(host, torn), fresh, torn);
    }
  }
  const { length } = text;
  const any = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({ at: fc.nat(), to: fc.string() })
      .map(({ at, to }) => text.slice(0, at % length) + to + text.slice((at % length) + 1)),
  );
  fc.assert(
    fc.property(any, (said) => {
      const { rate, ...counts } = readMemory(host, sealed(said));
      return (
        rate > 0.8 &&
        rate < 1.25 &&
        Object.values(counts).every((value) => typeof value === "string" || (value >= -1 && value < 2 ** 53))
      );
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

test("points of wakes that did not know the time are placed by how long the device slept, and none is called a guess", async (t) => {
  const device = new Sleeper(t, { cycle: { ...cycle, connectEvery: 2 } });
  const { rig } = device;
  const start = rig.clock.wall() ?? 0;
  rig.clock.setWall(undefined);
  rig.platform.fault = () => "hang";
  const taken: number[] = [];
  for (let n = 0; n < 3; n++) {
    taken.push(rig.clock.now());
    await device.wake();
  }
  rig.platform.fault = undefined;
  rig.clock.setWall(start + rig.clock.now());
  for (let wakes = 0; device.last!.waiting > 0; wakes++) {
    t.true(wakes < 20);
    await device.wake({ connect: true });
  }
  const found = rig.platform.points(rig.platform.device(NAME), "n");
  t.deepEqual(
    found.slice(0, 3).map(({ value, ts }) => [value, ts]),
    taken.map((at, n) => [n, start + at]),
  );
  t.deepEqual(rig.platform.points(rig.platform.device(NAME), "moteTimeGuessed"), []);
});
