// Images that write other formats than the one before them: what is stored by one is reported and
// kept by the other, and an update ends well.
import { createHash } from "node:crypto";
import test from "ava";
import { isAtLeast } from "../../../../../src/agent/firmware/versions.js";
import type { Host } from "../../../../../src/port.js";
import { Files, HOST } from "./file-servers.js";
import { Lamp } from "./lamp.js";
import {
  atHalf,
  each,
  ends,
  failed,
  firmwareOnly,
  LONG,
  lampWith,
  MINUTE,
  SIZE,
  UPDATED,
} from "./reported.js";

/** The first byte of a stored value is its format. */
const [OWN, NEWER] = ["1".charCodeAt(0), "2".charCodeAt(0)];

/**
 * The host of a newer image: it writes format 2, and reads both. With `onTrial` also where it must
 * not yet.
 */
function newer(host: Host, onTrial: boolean): Host {
  const { store } = host;
  const as = (bytes: Uint8Array, format: number) => Uint8Array.of(format, ...bytes.subarray(1));
  return {
    ...host,
    store: {
      get: (key) => {
        const bytes = store.get(key);
        return bytes?.[0] === NEWER ? as(bytes, OWN) : bytes;
      },
      set: (key, bytes) => {
        if (host.slot.state() === "pending" && !onTrial) return store.set(key, bytes);
        const before = store.get(key);
        if (before?.[0] === OWN) store.set(`${key}-old`, before);
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

// One that crashes and stores nothing in its format: reported.test.ts.
test("a format written too early by an image that crashes ends FAILED after four tries", async (t) => {
  const lamp = lampOf(true);
  lamp.onStart = (version) => {
    // Late enough to have stored something, too early to be kept.
    if (version === "2.0.0") lamp.machine.clock.timer(1, () => lamp.crash());
  };
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("FAILED", "UPDATED");
  const reason = /^not confirmed \(it divided by zero\)$/;
  t.regex(String(lamp.shown.error), reason);
  await lamp.pass(6 * 60 * MINUTE);
  t.is(lamp.booted.filter((version) => version === "2.0.0").length, 4);
  t.deepEqual([lamp.version, lamp.shown.state], ["1.0.0", "FAILED"]);
});

test("a confirmed image writes its new format, and an update leads back to the old one", async (t) => {
  const lamp = lampOf(false);
  const first = lamp.package("1.0.0", lamp.images.get("1.0.0") as Uint8Array);
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  t.is(format(lamp), NEWER);
  lamp.assign(first);
  await lamp.until(() => lamp.version === "1.0.0");
  await lamp.until(() => lamp.shown.running === "1.0.0" && lamp.shown.state === "UPDATED");
  t.is(lamp.machine.state, "confirmed");
  t.is(format(lamp), OWN);
  t.is(format(lamp, "firmware-old"), NEWER, "what the newer image knew is kept");
  const { booted } = lamp;
  lamp.machine.off();
  await lamp.pass(10 * MINUTE);
  t.deepEqual(booted, ["1.0.0", "2.0.0", "1.0.0", "1.0.0"]);
  t.is(lamp.shown.state, "UPDATED");
});

// The running version is assigned: there is nothing to fetch, and whoever assigned it waits to hear
// so.

const updates = (lamp: Lamp) =>
  lamp.platform.points(lamp.device, "fw_state").filter(({ value }) => value === "UPDATED").length;

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

/**
 * ms: two looks at the keys, each at the end of a poll, every 30 s, or as soon as a poll brings a
 * change.
 */
const WITHIN = { 1: 50_000, 2: 33_000, 3: 3000 } as const;

for (const connections of [1, 2, 3] as const)
  test(`a package is fetched as soon from its own address, ${connections} connection(s)`, async (t) => {
    const begins = async (where: "platform" | "URL", afterMs: number): Promise<number> => {
      const files = new Files({ connections, firmware: { urlHosts: [HOST], allowUnverified: true } });
      const { lamp } = files;
      await lamp.pass(afterMs);
      const at = lamp.machine.clock.now();
      if (where === "URL") files.assign(undefined, {});
      else lamp.assign(lamp.package("2.0.0", lamp.image("2.0.0", SIZE)));
      await lamp.until(() => files.seen.length + lamp.fetches.length > 0);
      return lamp.machine.clock.now() - at;
    };
    for (const afterMs of [300, 26_226, 60_794]) {
      const held = await begins("platform", afterMs);
      const apart = await begins("URL", afterMs);
      t.true(Math.abs(apart - held) < 100, `assigned after ${afterMs} ms: ${apart} and ${held} ms`);
      t.true(held <= WITHIN[connections], `assigned after ${afterMs} ms: ${held} ms`);
    }
  });

/**
 * ms. With one or two connections each may have to wait for a request for the image (16 KiB, 3.2 s
 * here), or for two; with one for a short poll, too.
 */
const MOST = {
  1: { point: 12_000, rpc: 12_000, attribute: 10_000 },
  2: { point: 10_000, rpc: 6000, attribute: 10_000 },
  3: { point: 1500, rpc: 500, attribute: 500 },
} as const;

for (const connections of [1, 2, 3] as const)
  test(`${connections} connection(s): points, RPCs and attributes go on while an image comes`, async (t) => {
    const telemetry = { batchAgeMs: 1000 };
    const lamp = new Lamp({ connections, slotBytes: 128 * 4096, agent: { telemetry } });
    const { clock, net } = lamp.machine;
    let [seen, downloading] = [-1, false];
    lamp.onStart = () => {
      lamp.agent.rpc.handle("echo", (params) => params);
      lamp.agent.attributes.subscribe("level", (level) => {
        seen = Number(level);
      });
    };
    await lamp.pass(60_000);
    // 5 kB/s on each connection.
    Object.assign(net.options, { segmentBytes: 1024, segmentMs: 200 });
    lamp.release("2.0.0", 400_000);
    lamp.agent.on("firmware", ({ state }) => {
      downloading = state === "DOWNLOADING";
    });
    await lamp.until(() => downloading);
    const worst = { point: 0, rpc: 0, attribute: 0 };
    let rounds = 0;
    const wait = async (what: keyof typeof worst, done: () => boolean): Promise<void> => {
      const since = clock.now();
      await clock.runUntil(() => done() || !downloading, 600_000);
      if (done()) worst[what] = Math.max(worst[what], clock.now() - since);
    };
    for (let n = 1; downloading; n++) {
      lamp.agent.telemetry.record({ n });
      await wait("point", () => lamp.latest("n") === n);
      const results = lamp.platform.rpc(lamp.device, "echo", n, { timeoutMs: 600_000 });
      await wait("rpc", () => results.length > 0);
      lamp.platform.setShared(lamp.device, { level: n });
      await wait("attribute", () => seen === n);
      rounds = n;
    }
    await lamp.untilState("UPDATED");
    t.true(rounds >= 2);
    for (const what of ["point", "rpc", "attribute"] as const)
      t.true(worst[what] > 0 && worst[what] <= MOST[connections][what], `${what}: ${worst[what]} ms`);
  });

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

test("restarts keep the drawn wait, and report the running version", async (t) => {
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

// How an image comes: in parts, over restarts, and tried again.

each("an image of any size arrives whole", async (t, shape) => {
  for (const size of [9, 4095, 4096, 4097, 8192, 16_384, 32_768, 65_536]) {
    const lamp = lampWith(shape, {}, size);
    await ends(t, lamp, UPDATED, `${size} bytes`);
    t.is(lamp.machine.fetched.bytes, size);
  }
});

test("a failed download is tried again after 1 minute, 10 minutes and 1 hour, then no more", async (t) => {
  const lamp = lampWith({}, {});
  lamp.platform.fault = firmwareOnly(() => ({ status: 500, body: "no" }));
  await lamp.pass(10 * 60 * MINUTE);
  const states = lamp.platform.points(lamp.device, "fw_state");
  const at = states.filter(({ value }) => value === "FAILED").map(({ ts }) => ts);
  const waits = at.slice(1).map((ms, i) => Math.round((ms - at[i]!) / MINUTE));
  t.deepEqual(waits, [1, 10, 60]);
});

test("a failed update waits over a restart, and is not tried at once", async (t) => {
  const lamp = lampWith({}, {});
  lamp.platform.fault = firmwareOnly(() => ({ status: 500, body: "no" }));
  await lamp.untilState("FAILED");
  lamp.machine.off();
  const asked = lamp.fetches.length;
  await lamp.pass(50_000);
  t.is(lamp.fetches.length, asked);
  await lamp.pass(20_000);
  t.true(lamp.fetches.length > asked);
});

test("a verified image is read back again if power is lost before it starts", async (t) => {
  const lamp = lampWith({}, {});
  await lamp.until(() => lamp.states.includes("VERIFIED"));
  lamp.machine.off();
  lamp.machine.slots[1].bytes[9000]! ^= 1;
  await ends(t, lamp, failed("slot changed"));
  t.deepEqual(lamp.booted, ["1.0.0", "1.0.0"]);
});

each("bytes from before a power loss that are wrong in the slot are downloaded again", async (t, shape) => {
  const lamp = lampWith(shape, {}, 40_000);
  atHalf(lamp, () => {
    lamp.machine.off();
    lamp.machine.slots[1].bytes[5000]! ^= 1;
  });
  await ends(t, lamp, failed("slot changed"));
  await lamp.untilState("UPDATED");
});

each("power is lost in the header, and again while it is written anew: UPDATED", async (t, shape) => {
  const lamp = lampWith(shape, {});
  const { machine } = lamp;
  let cuts = 0;
  machine.onOperation = (name) => {
    if (cuts === 0 && name === "write 0+32") machine.slots[1].bytes[0] = "2".charCodeAt(0);
    else if (cuts !== 1 || name !== "write 32+4064") return;
    cuts++;
    machine.off();
  };
  await lamp.untilState("UPDATED");
  t.is(cuts, 2);
});

test("a slot that can't be read for once: the image is downloaded again", async (t) => {
  const lamp = lampWith({}, {});
  let reads = 0;
  lamp.hostOf = (host) => ({
    ...host,
    slot: { ...host.slot, read: (at, into) => (at !== 10_240 || reads++ > 0) && host.slot.read(at, into) },
  });
  await ends(t, lamp, failed("slot changed"));
  await lamp.untilState("UPDATED");
});

test("progress is reported every 5 percent at most, or every 5 s, and at its end", async (t) => {
  const percents: number[] = [];
  const lamp = lampWith({ connections: 3 }, {}, 31_000);
  lamp.onStart = () => {
    lamp.agent.on("firmware", ({ progress }) => void (progress !== undefined && percents.push(progress)));
  };
  await lamp.untilState("UPDATED");
  t.true(percents.length > 5 && percents.length <= 21, `${percents}`);
  t.is(percents.pop(), 100);
  t.true(percents.every((percent, i) => percent - (percents[i - 1] ?? 0) >= 5));
  const reported = lamp.platform.points(lamp.device, "fw_progress").map(({ value }) => value);
  t.deepEqual(reported, [...percents, 100]);
});

test("after stop() and start() in the middle of a download every part comes whole", async (t) => {
  const lamp = lampWith({ connections: 3 }, {}, 60_000);
  lamp.platform.fault = firmwareOnly(() => {
    Object.assign(lamp.machine.net.options, { segmentBytes: 2048, segmentMs: 3000 });
    return undefined;
  });
  await lamp.until(() => lamp.fetches.length === 1);
  await lamp.pass(20_000);
  void lamp.agent.stop();
  await lamp.pass(10);
  lamp.agent.start();
  await lamp.pass(200_000);
  // The second begins with the header alone, which is not believed over a stop.
  const asked = lamp.fetches.slice(2).map((path) => {
    const query = new URLSearchParams(path.split("?")[1]);
    const size = Number(query.get("size"));
    return { from: size * Number(query.get("chunk")), size };
  });
  t.true(asked.length > 1);
  for (const [i, { from, size }] of asked.slice(0, -1).entries()) t.is(asked[i + 1]?.from, from + size);
});

test("a restart continues a download at the first read that names its image", async (t) => {
  const lamp = lampWith({}, {}, 60_000);
  await lamp.until(() => lamp.fetches.length === 2);
  lamp.machine.off();
  const [asked, seen] = [lamp.fetches.length, lamp.platform.seen.length];
  await lamp.until(() => lamp.fetches.length > asked);
  const reads = lamp.platform.seen.slice(seen).filter(({ path }) => path.includes("/attributes?"));
  t.is(reads.length, 1);
});

const CONDEMNED: [string, (lamp: Lamp) => unknown][] = [
  ["retry() is called", (lamp) => lamp.agent.firmware.retry()],
  ["it was seen withdrawn", (lamp) => withdrawFor(lamp, 2 * MINUTE)],
  ["its checksum was corrected", (lamp) => correctChecksum(lamp)],
];

async function withdrawFor(lamp: Lamp, ms: number): Promise<void> {
  const [target] = lamp.platform.core.packages.list();
  lamp.assign(undefined);
  await lamp.pass(ms);
  lamp.assign(target);
}

function correctChecksum(lamp: Lamp): void {
  const checksum = createHash("sha256").update(lamp.images.get("2.0.0")!).digest("hex");
  lamp.platform.setShared(lamp.device, { fw_checksum: checksum });
}

for (const [how, act] of CONDEMNED)
  test(`a condemned image is fetched again once ${how}`, async (t) => {
    const lamp = lampWith({}, { checksum: "0".repeat(64) });
    await lamp.untilState("FAILED");
    await lamp.pass(LONG);
    t.is(lamp.machine.fetched.bytes, SIZE);
    await act(lamp);
    await lamp.until(() => lamp.machine.fetched.bytes === 2 * SIZE);
    t.is(lamp.fetches.length, 4);
  });

test("allow() that says later, throws or never answers is called again after a minute", async (t) => {
  const answers: (() => "later" | true | Promise<true>)[] = [
    () => "later",
    () => Promise.reject(new Error("x")),
    () => new Promise(() => {}),
    () => true,
  ];
  const asked: number[] = [];
  const lamp: Lamp = new Lamp({
    firmware: {
      allow: (update) => {
        t.deepEqual(update, { title: "lamp", version: "2.0.0", size: SIZE });
        asked.push(lamp.machine.clock.now());
        return answers.shift()!();
      },
    },
  });
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  t.is(asked.length, 4);
  t.true(asked.slice(1).every((at, i) => at - asked[i]! >= MINUTE));
});

test("an assignment counts only when it was read twice, 2 s apart", async (t) => {
  const lamp = new Lamp({ connections: 3 });
  await lamp.pass(MINUTE);
  lamp.release("2.0.0", SIZE);
  await lamp.pass(1900);
  t.is(lamp.fetches.length, 0);
  lamp.assign(undefined);
  await lamp.pass(MINUTE);
  t.deepEqual([lamp.fetches, lamp.states], [[], []]);
});

test("versions are ordered by their parts as numbers, and anything else is refused", (t) => {
  const rising = "0 0.9 0.9.1 1 1.0.0.1 1.2 1.10 2 10.0".split(" ");
  for (const [i, one] of rising.entries())
    for (const [k, other] of rising.entries()) t.is(isAtLeast(one, other), i >= k, `${one} and ${other}`);
  for (const same of ["1.0", "1.0.0.0", "v1", "1+a", "v1.0+b-c"]) t.true(isAtLeast(same, "1"), same);
  for (const older of ["1-rc", "v1.0.0-2", "1.0-rc+a"]) {
    t.false(isAtLeast(older, "1"), older);
    t.true(isAtLeast(older, "0.9"), older);
  }
  for (const none of ["", "x", "1.", "1..2", "1 ", "V1", "1234567890", "1.2.3.4.5.6.7.8.9", "x-1"])
    t.false(isAtLeast(none, "0"), none);
});
