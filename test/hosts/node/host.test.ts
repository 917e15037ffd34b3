// The Node host: the port's promises, and what it does beyond them.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type NetworkInterfaceInfo, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createServer } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { makeDirectory, makeOwnDirectory } from "../../../hosts/node/files.js";
import { createHost, type NodeHost, type NodeHostOptions } from "../../../hosts/node/host.js";
import { FileLogMemory } from "../../../hosts/node/log-memory.js";
import { watchNetwork } from "../../../hosts/node/network.js";
import { FileStore } from "../../../hosts/node/store.js";
import { whyClosed } from "../../../hosts/node/why-closed.js";
import { Agent } from "../../../src/index.js";
import { prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { FakeClock } from "../../fakes/clock.js";
import { listen } from "../../fakes/listen.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";
import { unless } from "../../unless.js";
import { pattern } from "../port/check.js";
import { Listeners } from "../port/node-peers.js";
import { MANY, MUCH, type Promised, type Tools } from "../port/promised.js";
import { PROMISES, SOCKET_PROMISES } from "../port/promises.js";
import { CERT, CERT_ELSEWHERE, KEY, KEY_ELSEWHERE } from "../port/tls-fixture.js";

const SMALL = { blocksBytes: 8 * 4096, slotBytes: 8 * 4096, log: () => {} };
const quiet = (): void => {};

function hostAt(
  t: ExecutionContext,
  options: Partial<NodeHostOptions> = {},
): NodeHost & { stateDir: string } {
  const stateDir = options.stateDir ?? temporaryState(t);
  const host = createHost({ ...SMALL, ...options, stateDir });
  t.teardown(() => host.close());
  return { ...host, stateDir };
}

test("only its user can read the state; values beyond the limits and remains of cut writes are not stored", (t) => {
  const first = hostAt(t);
  const { stateDir, store } = first;
  t.true(store.set("fifteen-letters", new Uint8Array(4000)));
  t.false(store.set("fifteen-letters", new Uint8Array(4001)));
  t.is(store.get("fifteen-letters")?.length, 4000);
  t.false(store.set("sixteen--letters", new Uint8Array(1)) || store.set("", new Uint8Array(1)));
  const mode = (...path: string[]): number => statSync(join(stateDir, ...path)).mode & 0o777;
  const files = [["store", "fifteen-letters.bin"], ["blocks.bin"], ["hardware-id"]];
  const modes = [["store"], ...files].map((path) => mode(...path));
  t.deepEqual(modes, [0o700, 0o600, 0o600, 0o600]);
  writeFileSync(join(stateDir, "store", ".fifteen-letters.bin.1.new"), "half");
  first.close();
  const next = hostAt(t, { stateDir });
  t.is(next.store.get("fifteen-letters")?.length, 4000);
  t.deepEqual(readdirSync(join(stateDir, "store")), ["fifteen-letters.bin"]);
});

test("blocks: writes only erased bytes; a file of another size keeps its whole sectors", (t) => {
  const path = join(temporaryState(t), "blocks.bin");
  const warnings: string[] = [];
  const open = (): FileBlocks => new FileBlocks(path, 5 * 4096, (line) => warnings.push(line));
  const fresh = open();
  t.true(fresh.write(100, Uint8Array.of(1, 2, 3)));
  t.false(fresh.write(102, Uint8Array.of(9)));
  t.true(fresh.write(103, Uint8Array.of(9)));
  const bytes = new Uint8Array(5);
  fresh.read(99, bytes);
  t.deepEqual(bytes, Uint8Array.of(255, 1, 2, 3, 9));
  fresh.close();
  truncateSync(path, 3 * 4096 + 100);
  const kept = open();
  t.is(kept.size, 3 * 4096);
  t.true(kept.erase(2 * 4096));
  t.false(kept.erase(3 * 4096));
  kept.close();
  t.is(statSync(path).size, 3 * 4096 + 100);
  t.is(warnings.length, 1);
});

for (const length of [1, 100, 4095, 4096, 4097, 8191]) {
  test(`a queue file that was cut to ${length} bytes loses no point uncounted`, async (t) => {
    const stateDir = temporaryState(t);
    const options = { baseUrl: "http://127.0.0.1:1", token: "token" };
    const first = hostAt(t, { stateDir });
    const before = new Agent(first, options);
    for (let n = 0; n < 60; n++) before.telemetry.record({ n });
    await before.stop();
    first.close();
    truncateSync(join(stateDir, "blocks.bin"), length);
    const lines: string[] = [];
    const second = hostAt(t, { stateDir, log: (_, line) => lines.push(line) });
    const { telemetry } = new Agent(second, options);
    t.is(telemetry.waiting + telemetry.dropped.unreadable, 60, lines.join("\n"));
    telemetry.record({ n: 60 });
    second.close();
    const { telemetry: last } = new Agent(hostAt(t, { stateDir }), options);
    t.is(last.waiting + last.dropped.unreadable, 61);
  });
}

test("a pipe in place of the queue's file is refused by name", (t) => {
  const stateDir = temporaryState(t);
  execFileSync("mkfifo", [join(stateDir, "blocks.bin")]);
  t.throws(() => hostAt(t, { stateDir }), { name: "QueueFileError", message: /is not a file: remove it/ });
});

const PLANTED: Readonly<Record<string, (path: string) => void>> = {
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "a directory": (path) => mkdirSync(path),
  "a symbolic link": (path) => {
    const target = `${path}.target`;
    writeFileSync(target, "{}");
    symlinkSync(target, path);
  },
};
const READ = ["store/token.bin", "hardware-id", "boot.json"];
for (const name of READ)
  for (const [what, plant] of Object.entries(PLANTED))
    test(`${what} in place of ${name} is refused by name, at once`, (t) => {
      const stateDir = temporaryState(t);
      hostAt(t, { stateDir }).close();
      rmSync(join(stateDir, name), { force: true });
      plant(join(stateDir, name));
      t.throws(() => hostAt(t, { stateDir }), {
        message: new RegExp(`${basename(name)} is (not a file: remove it|a symbolic link: put the file)`),
      });
    });

unless(test, process.getuid?.() === 0 ? undefined : "needs root")(
  "another user's file is not taken for one's own",
  (t) => {
    const stateDir = temporaryState(t);
    hostAt(t, { stateDir }).close();
    for (const name of [".", "store", "slots"]) chmodSync(join(stateDir, name), 0o777);
    const refused = { message: /belongs to another user/ };
    const paths = ["boot.json", "blocks.bin", "store/token.bin"].map((name) => join(stateDir, name));
    for (const path of paths) {
      writeFileSync(path, "{}", { mode: 0o666 });
      chownSync(path, 2, 2);
    }
    chownSync(join(stateDir, "slots"), 2, 2);
    process.seteuid?.(1);
    try {
      t.throws(() => readBoot(stateDir), refused);
      t.throws(() => new FileBlocks(paths[1] as string, 4096, quiet), { message: /EACCES/ });
      t.throws(() => new FileStore(join(stateDir, "store")), refused);
      t.throws(() => makeOwnDirectory(join(stateDir, "slots")), refused);
    } finally {
      process.seteuid?.(0);
    }
  },
);

for (const bytes of [0, 5000, 4 * 4096])
  test(`a slot file that was cut to ${bytes} bytes has room for an update again`, (t) => {
    const path = join(temporaryState(t), "slots", "b.bin");
    const open = () => new FileBlocks(path, 5 * 4096, quiet, "slot");
    open().close();
    truncateSync(path, bytes);
    const slot = open();
    t.is(slot.size, 5 * 4096);
    slot.close();
  });

for (const name of ["store", "slots"]) {
  test(`refuses a symbolic link in place of the directory ${name}`, (t) => {
    const stateDir = temporaryState(t);
    const elsewhere = temporaryState(t);
    symlinkSync(elsewhere, join(stateDir, name));
    t.throws(() => hostAt(t, { stateDir }), {
      message: /is a symbolic link: put the directory itself there/,
    });
    t.deepEqual(readdirSync(elsewhere), []);
  });
}

test("slot: a trial protects the earlier image, and exact bytes run", (t) => {
  const stateDir = temporaryState(t);
  flash(stateDir, image("1"));
  prepareStart(stateDir, quiet);
  const before = createHost({ ...SMALL, stateDir });
  const next = Buffer.concat([image("2"), Buffer.alloc(5000, "//")]);
  for (let at = 0; at < next.length; at += 4096) {
    before.slot.erase(at);
    before.slot.write(at, next.subarray(at, at + 4096));
  }
  t.true(before.slot.activate(next.length));
  t.false(before.slot.erase(0), "once activated it stays as it is");
  before.close();
  t.deepEqual(readFileSync(prepareStart(stateDir, quiet)!.path), next);
  const { slot } = hostAt(t, { stateDir });
  t.is(slot.state(), "pending");
  t.false(slot.erase(0) || slot.write(4096, Uint8Array.of(1)) || slot.activate(10));
  t.true(slot.confirm());
  t.deepEqual(Object.keys(readBoot(stateDir)?.images ?? {}).sort(), ["a", "b"]);
  t.true(slot.erase(4096));
  t.deepEqual(Object.keys(readBoot(stateDir)?.images ?? {}), ["b"]);
});

test("a boot record of another format is kept, and reported", (t) => {
  const stateDir = temporaryState(t);
  writeFileSync(join(stateDir, "boot.json"), '{"format":2,"active":"a"}');
  t.throws(() => prepareStart(stateDir, quiet), {
    message: /has a format that this version cannot read/,
  });
  t.true(existsSync(join(stateDir, "boot.json")));
});

test.serial(
  "TLS takes a certificate by CA and name; the environment can't switch that off, an option can",
  async (t) => {
    const handshake = async (
      name: string,
      options: Partial<NodeHostOptions>,
      identity = { cert: CERT, key: KEY },
    ) => {
      const server = createServer(identity, (socket) => socket.on("error", quiet));
      server.on("tlsClientError", quiet);
      const port = await listen(server, t);
      const host = hostAt(t, options);
      return new Promise<string>((resolve) => {
        const socket = host.open(name, port, true, (what, reason) => {
          if (what === "opened") socket.close();
          resolve(reason ? `${what}: ${reason}` : what);
        });
      });
    };
    const elsewhere = { cert: CERT_ELSEWHERE, key: KEY_ELSEWHERE };
    t.is(await handshake("127.0.0.1", { ca: CERT }), "opened");
    t.is(
      await handshake("localhost", { ca: CERT_ELSEWHERE }, elsewhere),
      "closed: certificate: for another name",
    );
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    t.is(await handshake("localhost", {}), "closed: certificate: self-signed");
    t.is(await handshake("localhost", { insecureTls: true }), "opened");
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

test("an impossible port closes the socket, later; no reason names an address, foreseen or not", async (t) => {
  const events: string[] = [];
  hostAt(t).open("127.0.0.1", 70_000, false, (what, reason) => events.push(`${what}: ${reason}`));
  t.deepEqual(events, []);
  while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.deepEqual(events, ["closed: bad address"]);
  const error = Object.assign(new Error("connect ESTRANGE 10.1.2.3:443"), { code: "ESTRANGE" });
  t.is(whyClosed(error), "ESTRANGE");
  t.is(whyClosed(new Error("10.1.2.3")), "unknown error");
  t.is(whyClosed(Object.assign(new Error(), { code: "ECONNREFUSED" })), "connection refused");
});

test("a relative state directory stays the same when the program changes its directory", (t) => {
  const stateDir = temporaryState(t);
  const before = process.cwd();
  process.chdir(dirname(stateDir));
  try {
    const { store, slot, logMemory } = hostAt(t, { stateDir: basename(stateDir) });
    process.chdir("/");
    t.true(store.set("a", Uint8Array.of(1)) && slot.write(0, Uint8Array.of(1)));
    t.true(logMemory.write(0, Uint8Array.of(1)));
    for (const file of ["store/a.bin", "blocks.bin", "slots/b.bin", "log.bin"])
      t.true(existsSync(join(stateDir, file)), file);
  } finally {
    process.chdir(before);
  }
});

test("a hard link in place of a file that is changed in place is refused, never written to", (t) => {
  const stateDir = temporaryState(t);
  const other = join(temporaryState(t), "other");
  const mine = "a".repeat(5 * 4096);
  writeFileSync(other, mine);
  makeDirectory(join(stateDir, "slots"));
  for (const name of ["blocks.bin", "log.bin", "slots/b.bin"]) linkSync(other, join(stateDir, name));
  const refused = { message: /is a hard link: put the file itself there/ };
  t.throws(() => new FileBlocks(join(stateDir, "blocks.bin"), 4096, quiet), refused);
  t.throws(() => new FileBlocks(join(stateDir, "slots", "b.bin"), 4096, quiet, "slot"), refused);
  t.false(new FileLogMemory(join(stateDir, "log.bin")).write(0, Uint8Array.of(1)));
  t.is(readFileSync(other, "utf8"), mine);
});

test("a symbolic link planted where a file is to be written is replaced or refused, never followed", (t) => {
  const plant = (path: string): (() => string) => {
    const target = join(temporaryState(t), "target");
    writeFileSync(target, "somebody else's file");
    symlinkSync(target, path);
    return () => readFileSync(target, "utf8");
  };
  const stateDir = temporaryState(t);
  const store = join(stateDir, "store");
  makeDirectory(store);
  makeDirectory(join(stateDir, "run"));
  flash(stateDir, image("1.0.0"));
  const blocks = join(stateDir, "blocks.bin");
  const log = join(stateDir, "log.bin");
  const planted = [
    join(store, `.token.bin.${process.pid}.new`),
    join(stateDir, "run", `.image.mjs.${process.pid}.new`),
    blocks,
    log,
  ].map(plant);
  t.true(new FileStore(store).set("token", Uint8Array.of(1, 2, 3)));
  t.true(lstatSync(join(store, "token.bin")).isFile());
  t.truthy(prepareStart(stateDir, quiet));
  t.true(lstatSync(join(stateDir, "run", "image.mjs")).isFile());
  t.throws(() => new FileBlocks(blocks, 4096, quiet), {
    message: /blocks\.bin is a symbolic link/,
  });
  t.false(new FileLogMemory(log).write(0, Uint8Array.of(1)));
  for (const read of planted) t.is(read(), "somebody else's file");
});

for (const name of ["host.lock.9", "store/.token.bin.9.new"])
  test(`a directory in place of ${name} is refused by name`, (t) => {
    const stateDir = temporaryState(t);
    mkdirSync(join(stateDir, name), { recursive: true });
    t.throws(() => hostAt(t, { stateDir }), {
      message: new RegExp(`${basename(name)} is not a (file|lock): remove it`),
    });
  });

test("only a new address means a network that returned, not a lost one or the loopback", async (t) => {
  const one = (address: string, internal = false) => [{ address, internal } as NetworkInterfaceInfo];
  const clock = new FakeClock(0);
  let now: NodeJS.Dict<NetworkInterfaceInfo[]> | undefined = {
    lo: one("127.0.0.1", true),
    eth0: one("192.0.2.7"),
  };
  let returned = 0;
  const end = watchNetwork(
    clock,
    () => returned++,
    () => {
      if (!now) throw new Error("no such call");
      return now;
    },
  );
  const becomes = async (next: typeof now) => {
    now = next;
    await clock.advance(5000);
    return returned;
  };
  t.is(await becomes({ ...now }), 0);
  t.is(await becomes({ lo: one("127.0.0.2", true) }), 0);
  t.is(await becomes(undefined), 0);
  t.is(await becomes({ eth0: one("192.0.2.7") }), 1);
  t.is(await becomes({ eth0: one("192.0.2.8") }), 2);
  t.is(await becomes({ eth0: one("192.0.2.8"), wlan0: one("192.0.2.8") }), 3);
  end();
  t.is(await becomes({ eth0: one("192.0.2.9") }), 3);
});

// The port's promises.

async function keeps(t: ExecutionContext, { run }: Promised, secure: boolean): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-port-"));
  const listeners = new Listeners(secure);
  const make = (): NodeHost =>
    createHost({ stateDir, ca: CERT, blocksBytes: 16 * 4096, slotBytes: 16 * 4096, log: quiet });
  flash(stateDir, pattern(5000, 11));
  prepareStart(stateDir, quiet);
  let host = make();
  const tools: Required<Tools> = {
    listen: (script) => listeners.listen(script),
    nowhere: () => listeners.nowhere(),
    bytes: MUCH,
    sockets: MANY,
    unknown: { name: "nobody.invalid", port: 80, secure },
    async restart() {
      host.close();
      prepareStart(stateDir, quiet);
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
