// What the Node host does beyond the port's promises.
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import type { AddressInfo } from "node:net";
import { type NetworkInterfaceInfo, tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { makeDirectory, UNFENCED } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { createHost, type NodeHost, type NodeHostOptions } from "../../../hosts/node/host.js";
import { FileLogMemory } from "../../../hosts/node/log-memory.js";
import { watchNetwork } from "../../../hosts/node/network.js";
import { prepareStart } from "../../../hosts/node/start-up.js";
import { FileStore } from "../../../hosts/node/store.js";
import { whyClosed } from "../../../hosts/node/why-closed.js";
import { POINT_HEAD, whole } from "../../../src/agent/queue/record.js";
import { Agent, type TelemetryOptions } from "../../../src/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeFlash } from "../../fakes/flash.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform } from "../../fakes/platform.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";
import { pattern } from "../port/check.js";
import { Listeners } from "../port/node-peers.js";
import { MANY, MUCH, type Promised, type Tools } from "../port/promised.js";
import { PROMISES, SOCKET_PROMISES } from "../port/promises.js";
import { CERT, CERT_ELSEWHERE, KEY, KEY_ELSEWHERE } from "../port/tls-fixture.js";

const SMALL = { blocksBytes: 8 * 4096, slotBytes: 8 * 4096, log: () => {} };

function hostAt(
  t: ExecutionContext,
  options: Partial<NodeHostOptions> = {},
): NodeHost & { stateDir: string } {
  const stateDir = options.stateDir ?? temporaryState(t);
  const host = createHost({ ...SMALL, ...options, stateDir });
  t.teardown(() => host.close());
  return { ...host, stateDir };
}

test("what is kept can be read by its user alone", (t) => {
  const { store, stateDir } = hostAt(t);
  store.set("token", Uint8Array.of(1, 2, 3));
  const mode = (...path: string[]): number => statSync(join(stateDir, ...path)).mode & 0o777;
  t.is(mode("store"), 0o700);
  t.is(mode("store", "token.bin"), 0o600);
  t.is(mode("blocks.bin"), 0o600);
  t.is(mode("hardware-id"), 0o600);
});

test("store: keys and values beyond the limits are refused, and what was there stays", (t) => {
  const { store } = hostAt(t);
  t.true(store.set("fifteen-letters", new Uint8Array(4000)));
  t.false(store.set("fifteen-letters", new Uint8Array(4001)));
  t.is(store.get("fifteen-letters")?.length, 4000);
  t.false(store.set("sixteen--letters", new Uint8Array(1)));
  t.false(store.set("", new Uint8Array(1)));
});

test("store: a file left by a cut write is not taken for a value, and removed at the next start", (t) => {
  const first = hostAt(t);
  const { stateDir } = first;
  first.store.set("a", Uint8Array.of(1));
  writeFileSync(join(stateDir, "store", ".a.bin.host1.new"), "half");
  t.deepEqual(first.store.get("a"), Uint8Array.of(1));
  first.close();
  const { store } = hostAt(t, { stateDir });
  t.deepEqual(store.get("a"), Uint8Array.of(1));
  t.deepEqual(readdirSync(join(stateDir, "store")), ["a.bin"]);
});

test("store: a directory that is gone makes set false, and throws nothing", (t) => {
  const stateDir = temporaryState(t);
  writeFileSync(join(stateDir, "file"), "");
  t.throws(() => new FileStore(join(stateDir, "file"), UNFENCED));
  const { store } = hostAt(t, { stateDir });
  writeFileSync(join(stateDir, "store", "x.bin"), "x");
  t.true(store.delete("x"));
  t.true(store.delete("never"));
});

test("blocks: bytes that are not erased are not written over", (t) => {
  const { blocks } = hostAt(t);
  t.true(blocks.write(100, Uint8Array.of(1, 2, 3)));
  t.false(blocks.write(102, Uint8Array.of(9)));
  t.true(blocks.write(103, Uint8Array.of(9)));
  const bytes = new Uint8Array(4);
  t.true(blocks.read(100, bytes));
  t.deepEqual(bytes, Uint8Array.of(1, 2, 3, 9));
});

test("blocks: a new file has all its room on the disk, and is erased", (t) => {
  const { blocks, stateDir } = hostAt(t);
  const { size, blocks: used } = statSync(join(stateDir, "blocks.bin"));
  t.is(size, 8 * 4096);
  t.true(used * 512 >= size);
  const bytes = new Uint8Array(4096);
  blocks.read(4096, bytes);
  t.true(bytes.every((byte) => byte === 0xff));
});

test("blocks: a file of another size is kept and reported; what is beyond its last whole sector is not used", (t) => {
  const path = join(temporaryState(t), "blocks.bin");
  const warnings: string[] = [];
  const open = (size: number): FileBlocks =>
    new FileBlocks(path, size, (line) => warnings.push(line), UNFENCED);
  open(5 * 4096).close();
  t.is(warnings.length, 0);
  truncateSync(path, 3 * 4096 + 100);
  const kept = open(5 * 4096);
  t.is(kept.size, 3 * 4096);
  t.true(kept.erase(2 * 4096));
  t.false(kept.erase(3 * 4096));
  kept.close();
  t.is(warnings.length, 1);
  t.is(statSync(path).size, 3 * 4096 + 100);
});

test("blocks: a file that is shorter than a sector gives no sectors", (t) => {
  const path = join(temporaryState(t), "blocks.bin");
  writeFileSync(path, "odd");
  const blocks = new FileBlocks(path, 4096, () => {}, UNFENCED);
  t.is(blocks.size, 0);
  t.false(blocks.read(0, new Uint8Array(1)));
  blocks.close();
});

test("slot: while the running image is pending, the one before can't be overwritten", (t) => {
  const stateDir = temporaryState(t);
  flash(stateDir, image("1"), UNFENCED);
  prepareStart(stateDir, UNFENCED, () => {});
  const before = createHost({ ...SMALL, stateDir });
  before.slot.erase(0);
  before.slot.write(0, image("2"));
  t.true(before.slot.activate(image("2").length));
  t.false(before.slot.erase(0), "once activated it stays as it is");
  before.close();
  prepareStart(stateDir, UNFENCED, () => {});
  const { slot } = hostAt(t, { stateDir });
  t.is(slot.state(), "pending");
  t.false(slot.erase(0));
  t.false(slot.write(4096, Uint8Array.of(1)));
  t.false(slot.activate(10));
  t.true(slot.confirm());
  t.true(slot.erase(0));
});

test("slot: an image that is being overwritten is no way back any more", (t) => {
  const stateDir = temporaryState(t);
  flash(stateDir, image("1"), UNFENCED);
  flash(stateDir, image("2"), UNFENCED);
  t.deepEqual(Object.keys(readBoot(stateDir)?.images ?? {}).sort(), ["a", "b"]);
  const { slot } = hostAt(t, { stateDir });
  slot.erase(4096);
  t.deepEqual(Object.keys(readBoot(stateDir)?.images ?? {}), ["b"]);
});

test("slot: the file that runs holds exactly the image's bytes", (t) => {
  const stateDir = temporaryState(t);
  const bytes = Buffer.concat([image("1"), Buffer.alloc(5000, "//")]);
  flash(stateDir, bytes, UNFENCED);
  const start = prepareStart(stateDir, UNFENCED, () => {});
  t.true(start && readFileSync(start.path).equals(bytes));
});

test("a boot record of another format is kept, and reported", (t) => {
  const stateDir = temporaryState(t);
  writeFileSync(join(stateDir, "boot.json"), '{"format":2,"active":"a"}');
  t.throws(() => prepareStart(stateDir, UNFENCED, () => {}), {
    message: /has a format that this version cannot read/,
  });
  t.true(existsSync(join(stateDir, "boot.json")));
});

test("hardware id: two machines differ", (t) => {
  t.not(hostAt(t).hardwareId, hostAt(t).hardwareId);
});

async function tlsEvents(
  t: ExecutionContext,
  name: string,
  ca: string | undefined,
  identity = { cert: CERT, key: KEY },
  options: Partial<NodeHostOptions> = {},
): Promise<string> {
  const server = createServer(identity, (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const events: string[] = [];
  const host = hostAt(t, { ca, ...options });
  await new Promise<void>((resolve) => {
    const socket = host.open(name, (server.address() as AddressInfo).port, true, (what, reason) => {
      events.push(reason ? `${what}: ${reason}` : what);
      if (what === "opened") socket.close();
      resolve();
    });
  });
  return events.join();
}

test("TLS: a certificate of an unknown issuer is refused", async (t) => {
  t.is(await tlsEvents(t, "localhost", undefined), "closed: certificate: self-signed");
});

test("TLS: a certificate for another name is refused", async (t) => {
  const identity = { cert: CERT_ELSEWHERE, key: KEY_ELSEWHERE };
  t.is(await tlsEvents(t, "localhost", CERT_ELSEWHERE, identity), "closed: certificate: for another name");
});

test("TLS: an address is verified as one", async (t) => {
  t.is(await tlsEvents(t, "127.0.0.1", CERT), "opened");
});

test.serial(
  "TLS: what the environment says about it changes nothing; the option by its name does",
  async (t) => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    t.regex(await tlsEvents(t, "localhost", undefined), /^closed: certificate/);
    t.is(await tlsEvents(t, "localhost", undefined, undefined, { insecureTls: true }), "opened");
  },
);

test("a state directory has one open host; one that cannot open its files holds nothing", (t) => {
  const first = hostAt(t);
  const { stateDir } = first;
  t.throws(() => createHost({ ...SMALL, stateDir }), { name: "LockedError", message: /this process/ });
  first.close();
  rmSync(join(stateDir, "blocks.bin"));
  symlinkSync("elsewhere", join(stateDir, "blocks.bin"));
  t.throws(() => createHost({ ...SMALL, stateDir }), { message: /is a symbolic link/ });
  rmSync(join(stateDir, "blocks.bin"));
  t.notThrows(() => hostAt(t, { stateDir }));
});

test("a host that another process took over reports it once, and writes nothing more", async (t) => {
  const lines: string[] = [];
  let lost = 0;
  const { store, blocks, stateDir } = hostAt(t, {
    log: (level, line) => void lines.push(`${level} ${line}`),
    lost: () => void lost++,
  });
  const [name = ""] = readdirSync(stateDir).filter((file) => file.startsWith("host.lease"));
  renameSync(join(stateDir, name), join(stateDir, "host.lease.2.another"));
  t.false(store.set("a", Uint8Array.of(1)));
  t.false(blocks.write(0, Uint8Array.of(1)));
  for (let n = 0; n < 1200 && lost === 0; n++) await new Promise((resolve) => setTimeout(resolve, 50));
  t.is(lost, 1);
  t.deepEqual(lines, [`error ${stateDir} was taken over by another process: this one ends`]);
});

test("a port that no connection can have closes the socket, later", async (t) => {
  const events: string[] = [];
  hostAt(t).open("127.0.0.1", 70_000, false, (what, reason) => events.push(`${what}: ${reason}`));
  t.deepEqual(events, []);
  while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.deepEqual(events, ["closed: bad address"]);
});

test("a reason names no address, also for errors that nobody foresaw", (t) => {
  const error = Object.assign(new Error("connect ESTRANGE 10.1.2.3:443"), { code: "ESTRANGE" });
  t.is(whyClosed(error), "ESTRANGE");
  t.is(whyClosed(new Error("10.1.2.3")), "unknown error");
  t.is(whyClosed(Object.assign(new Error(), { code: "ECONNREFUSED" })), "connection refused");
});

// Files of the state directory when something else lies where they are to be written.

const UNTOUCHED = "somebody else's file";

/** A file outside the state directory, and a symbolic link to it planted at `path`. */
function plant(t: Parameters<typeof temporaryState>[0], path: string): { read(): string } {
  const target = join(temporaryState(t), "target");
  writeFileSync(target, UNTOUCHED);
  symlinkSync(target, path);
  return { read: () => readFileSync(target, "utf8") };
}

test("store: a symbolic link planted as a temporary file is replaced, not followed", (t) => {
  const store = join(temporaryState(t), "store");
  makeDirectory(store);
  const { read } = plant(t, join(store, ".token.bin.own.new"));
  t.true(new FileStore(store, UNFENCED).set("token", Uint8Array.of(1, 2, 3)));
  t.is(read(), UNTOUCHED);
  t.deepEqual([...readFileSync(join(store, "token.bin"))], [1, 2, 3]);
  t.true(lstatSync(join(store, "token.bin")).isFile());
});

test("start: a symbolic link planted as a temporary image is replaced, not followed", (t) => {
  const stateDir = temporaryState(t);
  flash(stateDir, image("1.0.0"), UNFENCED);
  makeDirectory(join(stateDir, "run"));
  const { read } = plant(t, join(stateDir, "run", ".image.mjs.own.new"));
  t.not(
    prepareStart(stateDir, UNFENCED, () => {}),
    undefined,
  );
  t.is(read(), UNTOUCHED);
  t.true(lstatSync(join(stateDir, "run", "image.mjs")).isFile());
});

test("blocks and log: a symbolic link in their place is refused, not followed", (t) => {
  const stateDir = temporaryState(t);
  const blocks = join(stateDir, "blocks.bin");
  const queue = plant(t, blocks);
  t.throws(() => new FileBlocks(blocks, 4096, () => {}, UNFENCED), {
    message: /blocks\.bin is a symbolic link/,
  });
  t.is(queue.read(), UNTOUCHED);
  const log = plant(t, join(stateDir, "log.bin"));
  t.false(new FileLogMemory(join(stateDir, "log.bin"), UNFENCED).write(0, Uint8Array.of(1)));
  t.is(log.read(), UNTOUCHED);
});

const one = (address: string, internal = false) => [{ address, internal } as NetworkInterfaceInfo];

test("an address that was not there before is a network that returned; one that goes, and the loopback, are not", async (t) => {
  const clock = new FakeClock(0);
  let now: NodeJS.Dict<NetworkInterfaceInfo[]> = { lo: one("127.0.0.1", true), eth0: one("192.0.2.7") };
  let returned = 0;
  const end = watchNetwork(
    clock,
    () => returned++,
    () => now,
  );
  const becomes = async (next: typeof now) => {
    now = next;
    await clock.advance(5000);
    return returned;
  };
  t.is(await becomes({ ...now }), 0);
  t.is(await becomes({ lo: one("127.0.0.1", true) }), 0);
  t.is(await becomes({ lo: one("127.0.0.2", true) }), 0);
  t.is(await becomes({ eth0: one("192.0.2.7") }), 1);
  t.is(await becomes({ eth0: one("192.0.2.8") }), 2);
  t.is(await becomes({ eth0: one("192.0.2.8"), wlan0: one("192.0.2.8") }), 3);
  end();
  t.is(await becomes({ eth0: one("192.0.2.9") }), 3);
});

test("a system that does not say is asked again", async (t) => {
  const clock = new FakeClock(0);
  let fails = true;
  let returned = 0;
  const end = watchNetwork(
    clock,
    () => returned++,
    () => {
      if (fails) throw new Error("no such call");
      return { eth0: one("192.0.2.7") };
    },
  );
  await clock.advance(20_000);
  fails = false;
  await clock.advance(5000);
  t.is(returned, 1);
  end();
});

// A day without a network, on the Node host's own blocks: a real file, a clock that stands still, the local platform in memory.

const DAY_S = 86_400;
const WALL = Date.UTC(2026, 0, 1);
/** At the end all that waits is to be there within this. */
const HOME_MS = 3 * 3_600_000;
const KIB = 1024;
const IN_MEMORY = "/dev/shm";

/** Lives through a day without a network, then one with it. The time between two points is a second. */
async function day(t: ExecutionContext, blocksBytes: number, telemetry: TelemetryOptions) {
  // 86,400 writes, each durable before the next: where there is no file system in memory that takes its time.
  t.timeout(600_000);
  const stateDir = mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), "mote-day-"));
  const real = createHost({ stateDir, blocksBytes, log: () => {} });
  t.teardown(() => {
    real.close();
    rmSync(stateDir, { recursive: true });
  });
  const clock = new FakeClock(WALL);
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const device = platform.create("away", "T1");
  const connect = net.onConnect;
  net.onConnect = (peer) => {
    peer.reset("no network");
    return false;
  };
  const host = { ...fakeHost({ clock, network: net, blocks: new FakeFlash(0, 512) }), blocks: real.blocks };
  const agent = new Agent(host, { baseUrl: "http://platform.test", token: "T1", telemetry });
  const drops: number[] = [];
  agent.on("drop", ({ points }) => drops.push(points));
  agent.start();
  for (let n = 0; n < DAY_S; n++) {
    agent.telemetry.record({ n });
    await clock.advance(1000);
  }
  net.onConnect = connect;
  await clock.advance(HOME_MS);
  const points = platform.points(device, "n");
  const reported = platform.points(device, "moteDroppedFull").at(-1)?.value ?? 0;
  const logged = host.lines.filter((line) => line.includes("points dropped")).length;
  await agent.stop();
  return { points, reported, drops, logged };
}

test.serial("a day offline at a point a second into 16 MiB: all of it arrives, in order", async (t) => {
  const { points, reported, drops } = await day(t, 16 * KIB * KIB, {});
  t.is(points.length, DAY_S);
  t.true(points.every(({ ts, value }, i) => value === i && Math.abs(ts - (WALL + i * 1000)) < 2));
  t.is(reported, 0);
  t.deepEqual(drops, []);
});

test.serial(
  "a day offline into 640 KiB: exactly the oldest sectors are gone, counted, published, and reported once a burst",
  async (t) => {
    const { points, reported, drops, logged } = await day(t, 640 * KIB, { durable: false });
    const lost = DAY_S - points.length;
    t.true(lost > 0);
    t.true(points.every(({ value }, i) => value === lost + i));
    t.is(reported, lost);
    t.is(
      drops.reduce((sum, points) => sum + points, 0),
      lost,
    );
    // 160 sectors, of which one is free and one being written; each holds what fits between header and trailer, and marks of drops.
    const perSector = Math.floor((4096 - 56) / whole(POINT_HEAD + '{"n":10000}'.length));
    const most = Math.floor((4096 - 56) / whole(POINT_HEAD + '{"n":0}'.length));
    t.true(points.length > 157 * (perSector - 2) && points.length <= 159 * perSector, `${points.length}`);
    t.is(logged, drops.length);
    t.true(
      Math.max(...drops) <= most && drops.length <= Math.ceil(lost / (perSector - 4)),
      `${drops.length}`,
    );
  },
);

// The Node host keeps the port's promises.

async function keeps(t: ExecutionContext, { run }: Promised, secure: boolean): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-port-"));
  const listeners = new Listeners(secure);
  const make = (): NodeHost =>
    createHost({ stateDir, ca: CERT, blocksBytes: 16 * 4096, slotBytes: 16 * 4096, log: () => {} });
  flash(stateDir, pattern(5000, 11), UNFENCED);
  prepareStart(stateDir, UNFENCED, () => {});
  let host = make();
  const tools: Required<Tools> = {
    listen: (script) => listeners.listen(script),
    nowhere: () => listeners.nowhere(),
    bytes: MUCH,
    sockets: MANY,
    unknown: { name: "nobody.invalid", port: 80, secure },
    async restart() {
      host.close();
      prepareStart(stateDir, UNFENCED, () => {});
      host = make();
      return host;
    },
  };
  try {
    await t.notThrowsAsync(async () => run(host, tools));
  } finally {
    await listeners.close();
    host.close();
    rmSync(stateDir, { recursive: true });
  }
}

// One after the other: they wait for the disk, and time is measured.
for (const promised of PROMISES) test.serial(promised.title, keeps, promised, false);
for (const promised of SOCKET_PROMISES) test.serial(`over TLS, ${promised.title}`, keeps, promised, true);
