// Images that write other formats than the one before them: what is stored by one is reported and kept by the other, and an update ends well.
import test from "ava";
import type { Host } from "../../../../../src/port.js";
import { readStored, writeStored } from "../../../../../src/store.js";
import { fakeHost } from "../../../../fakes/host.js";
import { test as inModes, startRig } from "../../rig.js";
import { Files, HOST } from "./file-servers.js";
import { type Connections, Lamp } from "./lamp.js";
import { each, MINUTE, SIZE } from "./reported.js";

const NEWER = 2;

/** The host of a newer image: it writes format 2, and reads both. With `onTrial` also where it must not yet. */
function newer(host: Host, onTrial: boolean): Host {
  const { store } = host;
  const as = (bytes: Uint8Array, format: number) => Uint8Array.of(format, ...bytes.subarray(1));
  return {
    ...host,
    store: {
      get: (key) => {
        const bytes = store.get(key);
        return bytes?.[0] === NEWER ? as(bytes, 1) : bytes;
      },
      set: (key, bytes) => {
        if (host.slot.state() === "pending" && !onTrial) return store.set(key, bytes);
        const before = store.get(key);
        if (before?.[0] === 1) store.set(`${key}-old`, before);
        return store.set(key, as(bytes, NEWER));
      },
      delete: (key) => store.delete(key),
    },
  };
}

/** A lamp whose second version is a newer image. */
function lampOf(onTrial: boolean): Lamp {
  const lamp = new Lamp();
  lamp.hostOf = (host, version) => (version === "2.0.0" ? newer(host, onTrial) : host);
  return lamp;
}

const format = (lamp: Lamp, key = "firmware") => lamp.machine.store.values.get(key)?.[0];

for (const onTrial of [false, true]) {
  test(`a new image with a new format${onTrial ? ", which it writes too early," : ""} crashes: FAILED with the reason, four tries, no more`, async (t) => {
    const lamp = lampOf(onTrial);
    lamp.onStart = (version) => {
      // Late enough to have stored something, too early to be kept.
      if (version === "2.0.0") lamp.machine.clock.timer(1, () => lamp.crash());
    };
    lamp.release("2.0.0", SIZE);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown.state, "FAILED");
    t.regex(
      String(lamp.shown.error),
      /^the new image (did not start|ended before it was confirmed) \(it divided by zero\)$/,
    );
    await lamp.pass(6 * 60 * MINUTE);
    t.is(lamp.booted.filter((version) => version === "2.0.0").length, 4);
    t.is(lamp.version, "1.0.0");
    t.is(lamp.shown.state, "FAILED");
  });
}

test("a new image writes its format once it is confirmed, and the way back to the old one is an update like any other", async (t) => {
  const lamp = lampOf(false);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  t.is(format(lamp), NEWER);
  lamp.assign(first);
  await lamp.until(() => lamp.version === "1.0.0");
  await lamp.until(() => lamp.shown.running === "1.0.0" && lamp.shown.state === "UPDATED");
  t.is(lamp.machine.state, "confirmed");
  t.is(format(lamp), 1);
  t.is(format(lamp, "firmware-old"), NEWER, "what the newer image knew is kept");
  const { booted } = lamp;
  lamp.machine.off();
  await lamp.pass(10 * MINUTE);
  t.deepEqual(booted, ["1.0.0", "2.0.0", "1.0.0", "1.0.0"]);
  t.is(lamp.shown.state, "UPDATED");
});

test("an old image that fails on trial gives way to the newer one, which says why", async (t) => {
  const lamp = lampOf(false);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  lamp.onStart = (version) => {
    if (version === "1.0.0") lamp.machine.clock.timer(1, () => lamp.crash());
  };
  lamp.assign(first);
  await lamp.untilState("FAILED");
  t.is(lamp.version, "2.0.0");
  t.regex(
    String(lamp.shown.error),
    /^the new image (did not start|ended before it was confirmed) \(it divided by zero\)$/,
  );
});

test("a store that has no room for the value beside takes the new one all the same", (t) => {
  const host = fakeHost();
  host.store.set("x", Uint8Array.of(9));
  host.store.fails = (_, key) => key === "x-old";
  t.true(writeStored(host, "x", 1));
  t.is(readStored(host, "x"), 1);
});

inModes("reset leaves no token behind, of whatever format", async (t) => {
  const rig = startRig(t);
  rig.store.set("token", Uint8Array.of(9, 9));
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  t.truthy(rig.store.get("token-old"));
  const done = agent.reset();
  await rig.clock.advance(0);
  await done;
  t.deepEqual(
    [...rig.store.values.keys()].filter((key) => key.startsWith("token") || key.startsWith("proposed")),
    [],
  );
});

// The running version is assigned: there is nothing to fetch, and whoever assigned it waits to hear so.

const updates = (lamp: Lamp) =>
  lamp.platform.points(lamp.device, "fw_state").filter(({ value }) => value === "UPDATED").length;

each("the running version, assigned to a device that was never updated, is UPDATED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const image = lamp.images.get("1.0.0") as Uint8Array;
  lamp.assign(lamp.package("1.0.0", image));
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, { state: "UPDATED", error: "", running: "1.0.0" });
  await lamp.pass(5 * MINUTE);
  t.is(updates(lamp), 1);
  t.deepEqual([lamp.fetches, lamp.booted], [[], ["1.0.0"]]);
});

each("the running version, withdrawn for a while and assigned again, is UPDATED again", async (t, shape) => {
  const lamp = new Lamp(shape);
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.assign(target);
  await lamp.untilState("UPDATED");
  const fetches = lamp.fetches.length;
  for (const times of [2, 3]) {
    lamp.assign(undefined);
    await lamp.pass(2 * MINUTE);
    lamp.assign(target);
    await lamp.until(() => updates(lamp) === times);
    t.is(lamp.latest("fw_state"), "UPDATED");
  }
  t.is(lamp.fetches.length, fetches);
});

each("a restart does not repeat UPDATED under another time", async (t, shape) => {
  const lamp = new Lamp(shape);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  lamp.machine.off();
  await lamp.pass(5 * MINUTE);
  t.is(updates(lamp), 1);
});

each("a failed update that is answered by assigning the running version ends UPDATED", async (t, shape) => {
  const lamp = new Lamp(shape);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  const broken = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  Object.assign(broken, { checksum: "0".repeat(64) });
  lamp.assign(broken);
  await lamp.untilState("FAILED");
  lamp.assign(first);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, { state: "UPDATED", error: "", running: "1.0.0" });
  t.deepEqual(lamp.booted, ["1.0.0"]);
});

test("withdrawn and assigned again in a moment, it is UPDATED again where a poll for attributes is open", async (t) => {
  const lamp = new Lamp({ connections: 3 });
  const target = lamp.package("2.0.0", lamp.image("2.0.0", SIZE));
  lamp.assign(target);
  await lamp.untilState("UPDATED");
  await lamp.pass(MINUTE);
  lamp.assign(undefined);
  lamp.assign(target);
  await lamp.until(() => updates(lamp) === 2);
  await lamp.pass(5 * MINUTE);
  t.is(updates(lamp), 2);
  t.is(lamp.latest("fw_state"), "UPDATED");
});

// How soon the first byte of a new image is asked for, by where it lies.

/** ms from the assignment, `afterMs` after the start, to the first request for the image. */
async function begins(
  where: "platform" | "URL",
  connections: Connections,
  afterMs: number,
  more?: object,
): Promise<number> {
  const files = new Files({
    connections,
    firmware: { urlHosts: [HOST], allowUnverified: true },
  });
  const { lamp } = files;
  const { clock } = lamp.machine;
  await lamp.pass(afterMs);
  const at = clock.now();
  if (where === "URL") files.assign(undefined, more);
  else lamp.assign(lamp.package("2.0.0", lamp.image("2.0.0", 20_000)));
  await lamp.until(() => files.seen.length + lamp.fetches.length > 0);
  return clock.now() - at;
}

/** ms: two looks at the keys, each at the end of a poll, every 30 s, or as soon as a poll brings a change. */
const WITHIN = { 1: 50_000, 2: 33_000, 3: 3000 } as const;

for (const connections of [1, 2, 3] as const) {
  test(`a package with an address of its own is fetched as soon as one that the platform holds, ${connections} connection(s)`, async (t) => {
    for (const afterMs of [300, 8942, 26_226, 43_510, 60_794, 78_078]) {
      const held = await begins("platform", connections, afterMs);
      // Complete, and with an address alone: then the server is asked for the length first.
      for (const more of [undefined, {}]) {
        const apart = await begins("URL", connections, afterMs, more);
        t.true(Math.abs(apart - held) < 100, `assigned after ${afterMs} ms: ${apart} and ${held} ms`);
      }
      t.true(held <= WITHIN[connections], `assigned after ${afterMs} ms: ${held} ms`);
    }
  });
}

// While an image comes, everything else goes on: how long a point, a server-side RPC and a change of a shared attribute take at most.

const LARGE_SIZE = 400_000;
/** Bytes of a peer that take this long: 5 kB/s on each connection. */
const SLOW = { segmentBytes: 1024, segmentMs: 200 };

interface Worst {
  point: number;
  rpc: number;
  attribute: number;
  /** Of each that were tried. */
  rounds: number;
}

/** Tries all three again and again, one after the other, for as long as the image comes. */
async function meanwhile(connections: Connections): Promise<Worst> {
  const lamp = new Lamp({
    connections,
    slotBytes: 128 * 4096,
    agent: { telemetry: { batchAgeMs: 1000 } },
  });
  const { clock, net } = lamp.machine;
  let seen = -1;
  lamp.onStart = () => {
    lamp.agent.rpc.handle("echo", (params) => params);
    lamp.agent.attributes.subscribe("level", (level) => {
      seen = Number(level);
    });
  };
  await lamp.pass(60_000);
  Object.assign(net.options, SLOW);
  lamp.release("2.0.0", LARGE_SIZE);
  let downloading = false;
  lamp.agent.on("firmware", ({ state }) => {
    downloading = state === "DOWNLOADING";
  });
  await lamp.until(() => downloading);
  const worst = { point: 0, rpc: 0, attribute: 0, rounds: 0 };
  const took = async (done: () => boolean): Promise<number> => {
    const since = clock.now();
    await clock.runUntil(() => done() || !downloading, 600_000);
    return done() ? clock.now() - since : 0;
  };
  for (let n = 1; downloading; n++) {
    lamp.agent.telemetry.record({ n });
    worst.point = Math.max(worst.point, await took(() => lamp.latest("n") === n));
    const results = lamp.platform.rpc(lamp.device, "echo", n, { timeoutMs: 600_000 });
    worst.rpc = Math.max(worst.rpc, await took(() => results.length > 0));
    lamp.platform.setShared(lamp.device, { level: n });
    worst.attribute = Math.max(worst.attribute, await took(() => seen === n));
    worst.rounds = n;
  }
  await lamp.untilState("UPDATED");
  return worst;
}

/** ms. With one or two connections each may have to wait for a request for the image (16 KiB, 3.2 s here), or for two; with one for a short poll, too. */
const MOST = {
  1: { point: 12_000, rpc: 12_000, attribute: 10_000 },
  2: { point: 10_000, rpc: 6000, attribute: 10_000 },
  3: { point: 1500, rpc: 500, attribute: 500 },
} as const;

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): points, RPCs and attributes go on while an image comes`, async (t) => {
    const worst = await meanwhile(connections);
    t.log(
      `at most, in ms: point ${worst.point}, RPC ${worst.rpc}, attribute ${worst.attribute} (${worst.rounds} rounds)`,
    );
    t.true(worst.rounds >= 2);
    for (const what of ["point", "rpc", "attribute"] as const)
      t.true(worst[what] > 0 && worst[what] <= MOST[connections][what], what);
  });
}

// `firmware.spreadMs`: when a device of a fleet begins, and what a restart does to its wait.

const SPREAD_MS = 10 * MINUTE;
/** From the assignment until a device without a spread has begun, two connections. */
const SEEN_MS = 35_000;

async function assigned(spreadMs = SPREAD_MS): Promise<Lamp> {
  const lamp = new Lamp({ firmware: { spreadMs } });
  await lamp.pass(MINUTE);
  lamp.release("2.0.0", 20_000);
  return lamp;
}

/** When it may begin, as the store has it: ms since 1970, and 0 before it is known. */
function due({ machine }: Lamp): number {
  const text = new TextDecoder().decode(machine.store.values.get("firmware") ?? new Uint8Array());
  return Number(/"at":(\d+)/.exec(text)?.[1] ?? 0);
}

async function begun(lamp: Lamp): Promise<number> {
  await lamp.until(() => lamp.fetches.length > 0);
  return lamp.machine.clock.wall() ?? 0;
}

test("an update waits for as long as was drawn, reports what runs meanwhile, and is installed", async (t) => {
  const lamp = await assigned();
  const at = lamp.machine.clock.wall() ?? 0;
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const planned = due(lamp);
  t.true(planned > at && planned <= at + SEEN_MS + SPREAD_MS);
  t.deepEqual(lamp.states, []);
  t.true(Math.abs((await begun(lamp)) - planned) < 1000);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"]);
});

test("restarts neither begin the wait again nor draw another, and the running version is reported after each", async (t) => {
  const lamp = await assigned(60 * MINUTE);
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const planned = due(lamp);
  for (let n = 0; n < 3; n++) {
    await lamp.pass(20_000);
    lamp.machine.off();
    await lamp.pass(1000);
    t.is(due(lamp), planned);
    const reports = lamp.platform.points(lamp.device, "current_fw_version").length;
    await lamp.pass(20_000);
    t.true(lamp.platform.points(lamp.device, "current_fw_version").length >= reports);
  }
  t.true(lamp.platform.points(lamp.device, "current_fw_version").length >= 4);
  t.true(Math.abs((await begun(lamp)) - planned) < 1000);
});

test("a device that was off when it was due begins as soon as it is back", async (t) => {
  const lamp = await assigned();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  lamp.machine.off();
  await lamp.machine.clock.advance(SPREAD_MS);
  const back = lamp.machine.clock.now();
  await begun(lamp);
  t.true(lamp.machine.clock.now() - back < SEEN_MS);
});

test("another assignment draws another wait, and one that is withdrawn is forgotten without a failure", async (t) => {
  const lamp = await assigned();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const first = due(lamp);
  lamp.release("3.0.0", 20_000);
  await lamp.until(() => due(lamp) !== first && due(lamp) > 0, SEEN_MS);
  lamp.assign(undefined);
  await lamp.until(() => due(lamp) === 0, SEEN_MS);
  await lamp.pass(SPREAD_MS + MINUTE);
  t.deepEqual([lamp.fetches, lamp.states], [[], []]);
});

test("a clock that is set back by a year does not make it wait for a year, and a refusal waits for nothing", async (t) => {
  const lamp = await assigned();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const { clock } = lamp.machine;
  clock.setWall((clock.wall() ?? 0) - 365 * 24 * 60 * MINUTE);
  const from = clock.now();
  await begun(lamp);
  t.true(clock.now() - from <= 2 * SPREAD_MS);

  const refusing = new Lamp({ firmware: { spreadMs: SPREAD_MS, minimumVersion: "5.0.0" } });
  await refusing.pass(MINUTE);
  refusing.release("2.0.0", 20_000);
  await refusing.until(() => refusing.shown.state === "FAILED", SEEN_MS);
  t.regex(String(refusing.shown.error), /minimumVersion/);
});

test("without the time of day an update waits too, and begins", async (t) => {
  const lamp = new Lamp({
    firmware: { spreadMs: SPREAD_MS },
    agent: { telemetry: { timestamps: "platform" } },
  });
  lamp.hostOf = (host) => ({ ...host, clock: { ...host.clock, wall: () => undefined } });
  await lamp.pass(MINUTE);
  lamp.release("2.0.0", 20_000);
  const from = lamp.machine.clock.now();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  lamp.machine.off();
  await begun(lamp);
  const took = lamp.machine.clock.now() - from;
  t.true(took > SEEN_MS && took <= 2 * (SEEN_MS + SPREAD_MS), `${took} ms`);
});
