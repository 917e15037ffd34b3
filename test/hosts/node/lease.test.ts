// Two processes on one state directory, and a disk that is full. A paused process is this one: it
// does not answer while it asks.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ava from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { readBoot, writeBoot } from "../../../hosts/node/boot-record.js";
import { type Fence, makeDirectory, QUEUE_FILE, replaceFile, UNFENCED } from "../../../hosts/node/files.js";
import { createHost } from "../../../hosts/node/host.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { ask } from "../../../hosts/node/lock-socket.js";
import { FileStore } from "../../../hosts/node/store.js";
import { Outbox } from "../../../src/agent/queue/outbox.js";
import { Time } from "../../../src/agent/time/time.js";
import { IN_USE } from "../../../tools/exit-codes.js";
import { forgetStart, prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { FakeClock } from "../../fakes/clock.js";
import { textOf, waitingNumbers } from "../../src/agent/queue/rig.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";

const SECTOR = 4096;
const quiet = (): void => {};
// One after the other: a host that asks blocks this process.
const test = ava.serial;
const linux = process.platform === "linux" ? test : ava.serial.skip;

/** Takes the directory from this process, as another one that gets no answer. */
function takeOver(stateDir: string, said: string[] = []): Lease {
  return Lease.ofHost(stateDir, { own: new Set(), silenceMs: 100, tell: (line) => said.push(line) });
}

/** Looks for up to a minute. The lease's own timer keeps no process alive. */
async function isLost({ lost }: Lease): Promise<boolean> {
  for (let n = 0; n < 1200 && !lost.aborted; n++) await new Promise((resolve) => setTimeout(resolve, 50));
  return lost.aborted;
}

/** Another process, once it printed something. */
async function other(t: Parameters<typeof temporaryState>[0], ...args: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  if (child.stdout) await once(child.stdout, "data");
  child.stdout?.resume();
  return child;
}

const WRITER = fileURLToPath(new URL("./container-writer.js", import.meta.url));

test("a lease is one file, whose name says when it was released", (t) => {
  const stateDir = temporaryState(t);
  const lease = Lease.ofHost(stateDir);
  t.deepEqual(readdirSync(stateDir), ["host.lock.1"]);
  t.true(lease.held && lease.holds());
  t.throws(() => Lease.ofHost(stateDir), {
    instanceOf: LockedError,
    message: /another host of this process/,
  });
  lease.release();
  t.deepEqual(readdirSync(stateDir), ["host.lock.1.free"]);
  t.false(lease.holds());
  const second = Lease.ofHost(stateDir);
  t.deepEqual(readdirSync(stateDir), ["host.lock.2"]);
  second.release();
});

test("a process that runs refuses others, a paused one is replaced, a dead one at once", async (t) => {
  const stateDir = temporaryState(t);
  const first = await other(t, WRITER, stateDir);
  const inUse = {
    instanceOf: LockedError,
    message: `${stateDir} is in use by process ${first.pid}`,
  };
  t.throws(() => Lease.ofHost(stateDir, { silenceMs: 60_000 }), inUse);
  await t.throwsAsync(Lease.ofRun(stateDir, { silenceMs: 60_000 }), inUse);
  const said: string[] = [];
  const tell = (line: string) => said.push(line);
  first.kill("SIGSTOP");
  const next = Lease.ofHost(stateDir, { silenceMs: 200, tell });
  t.deepEqual(said, [`${stateDir}: replaced a process that does not answer`]);
  first.kill("SIGCONT");
  t.deepEqual(await once(first, "exit"), [IN_USE, null]);
  next.release();
  const dead = await other(t, WRITER, stateDir);
  dead.kill("SIGKILL");
  await once(dead, "exit");
  (await Lease.ofRun(stateDir, { silenceMs: 60_000, tell })).release();
  t.is(said.length, 1);
});

test("waits for a process that runs, until it stops or the caller is stopped", async (t) => {
  const stateDir = temporaryState(t);
  const old = await Lease.ofRun(stateDir);
  const said: string[] = [];
  const options = { waitMs: 60_000, tell: (line: string) => said.push(line) };
  const waiting = Lease.ofRun(stateDir, options);
  t.deepEqual(said, [
    `${stateDir} is in use by another host of this process: waiting up to 60 s for it to stop`,
  ]);
  old.release();
  const lease = await waiting;
  t.true(lease.holds());
  const stop = new AbortController();
  const stopped = Lease.ofRun(stateDir, { ...options, stop: stop.signal });
  stop.abort();
  await t.throwsAsync(stopped, { instanceOf: LockedError });
  lease.release();
});

test("only an answer proves that a process runs, and only a refusal that it is dead", async (t) => {
  const path = join(temporaryState(t), "socket");
  t.is(ask(path, 60_000), "dead");
  // As a process without free file descriptors does.
  const code =
    "require('net').createServer((s) => s.destroy()).listen(process.argv[1], () => console.log(1))";
  const closes = await other(t, "-e", code, path);
  t.is(ask(path, 200), "silent");
  closes.kill("SIGKILL");
  await once(closes, "exit");
  t.is(ask(path, 60_000), "dead");
});

(process.getuid?.() === 0 ? ava.serial.skip : test)("another user's socket is not replaced", async (t) => {
  const stateDir = temporaryState(t);
  const lease = Lease.ofHost(stateDir);
  fs.chmodSync(join(stateDir, "host.lock.1"), 0);
  t.throws(() => takeOver(stateDir), { instanceOf: LockedError, message: /another user/ });
  lease.release();
});

test("loses a race for a name to a faster process, and takes the next", (t) => {
  const stateDir = temporaryState(t);
  const racing = (rival: string): Lease => {
    const { linkSync } = fs;
    let isFirst = true;
    return whilePatched(() => Lease.ofHost(stateDir), {
      linkSync(from: string, to: string) {
        if (isFirst) writeFileSync(join(stateDir, rival), "");
        isFirst = false;
        linkSync(from, to);
      },
    });
  };
  const same = racing("host.lock.1");
  t.deepEqual(readdirSync(stateDir), ["host.lock.2"]);
  same.release();
  // Others took the directory twice since the look, so that the name is free again.
  const late = racing("host.lock.9");
  t.true(readdirSync(stateDir).includes("host.lock.10"));
  late.release();
});

linux("a directory with a long path can be locked", (t) => {
  const stateDir = join(temporaryState(t), "long".repeat(50));
  mkdirSync(stateDir);
  const lease = Lease.ofHost(stateDir);
  const said: string[] = [];
  takeOver(stateDir, said).release();
  t.is(said.length, 1, "the socket was found");
  lease.release();
  t.deepEqual(readdirSync(stateDir), ["host.lock.2.free"]);
});

linux("a network disk, or one without sockets, is refused by name", (t) => {
  const stateDir = temporaryState(t);
  whilePatched(
    () => t.throws(() => Lease.ofHost(stateDir), { message: /is on NFS, .*: use a local file system/ }),
    { statfsSync: () => ({ type: 0x6969 }) },
  );
  const { listen } = Server.prototype;
  Server.prototype.listen = function deaf() {
    return this;
  };
  try {
    t.throws(() => Lease.ofHost(stateDir), { message: /use a file system with Unix sockets/ });
  } finally {
    Server.prototype.listen = listen;
  }
  t.deepEqual(readdirSync(stateDir), []);
});

test("a holder that was taken over, or whose file was removed, learns it and holds nothing", async (t) => {
  const stateDir = temporaryState(t);
  const old = Lease.ofHost(stateDir);
  const next = takeOver(stateDir);
  t.false(old.holds());
  t.true(await isLost(old));
  old.release();
  t.true(next.holds());
  rmSync(join(stateDir, "host.lock.2"));
  t.false(next.holds());
  t.true(await isLost(next));
  const gone = join(temporaryState(t), "gone");
  mkdirSync(gone);
  const last = Lease.ofHost(gone);
  rmSync(gone, { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 1200));
  t.false(last.lost.aborted, "without its directory nothing is said");
  for (const lease of [next, last]) lease.release();
});

/** True when asked for the n-th time, and only then another process takes the directory over. */
function takenAt(old: Lease, stateDir: string, nth: number): Fence & { next: () => Lease } {
  let count = 0;
  let next: Lease | undefined;
  return {
    tag: old.tag,
    next: () => next as Lease,
    holds() {
      const before = old.holds();
      if (++count === nth) next = takeOver(stateDir);
      return before;
    },
  };
}

for (const what of ["write", "erase"] as const)
  for (const nth of [1, 2]) {
    const when = nth === 1 ? "between the check and the write: it does not count" : "after it: it counts";
    test(`queue: a takeover during ${what} ${when}, and the new process sees the same`, (t) => {
      const stateDir = temporaryState(t);
      const path = join(stateDir, QUEUE_FILE);
      const old = Lease.ofHost(stateDir);
      const first = new FileBlocks(path, SECTOR, quiet, old);
      t.true(first.write(0, Uint8Array.of(1, 2, 3)));
      first.close();
      const fence = takenAt(old, stateDir, nth);
      const late = new FileBlocks(path, SECTOR, quiet, fence);
      t.is(what === "write" ? late.write(100, Uint8Array.of(9)) : late.erase(0), nth === 2);
      const blocks = new FileBlocks(path, SECTOR, quiet, fence.next());
      const found = new Uint8Array(104);
      t.true(blocks.read(0, found));
      t.deepEqual([...found.subarray(0, 3)], what === "erase" && nth === 2 ? [255, 255, 255] : [1, 2, 3]);
      t.is(found[100], what === "write" && nth === 2 ? 9 : 255);
      t.false(late.write(200, Uint8Array.of(1)) || late.erase(0));
      t.false(readdirSync(stateDir).some((name) => name.startsWith(".")));
      blocks.close();
      late.close();
      fence.next().release();
      old.release();
    });
  }

for (const [what, act, nth] of [
  ["is set", (store: FileStore) => store.set("token", Uint8Array.of(9)), 1],
  ["is deleted", (store: FileStore) => store.delete("token"), 1],
  ["was deleted", (store: FileStore) => store.delete("token"), 2],
] as const)
  test(`store: a takeover while a value ${what} leaves the value of the new process`, (t) => {
    const stateDir = temporaryState(t);
    const path = join(stateDir, "store");
    const old = Lease.ofHost(stateDir);
    new FileStore(path, old).set("token", Uint8Array.of(1));
    const fence = takenAt(old, stateDir, nth);
    t.is(act(new FileStore(path, fence)), nth === 2);
    const store = new FileStore(path, fence.next());
    t.deepEqual(store.get("token"), nth === 2 ? undefined : Uint8Array.of(1));
    t.true(store.set("token", Uint8Array.of(2)));
    t.false(act(new FileStore(path, old)));
    t.deepEqual(store.get("token"), Uint8Array.of(2));
    t.deepEqual(readdirSync(path), ["token.bin"]);
    fence.next().release();
    old.release();
  });

test("boot record: a process that was taken over cannot change which image starts", (t) => {
  const stateDir = temporaryState(t);
  const old = Lease.ofHost(stateDir);
  const boot = { active: "a", state: "confirmed", started: false, starts: 0, images: {} } as const;
  writeBoot(stateDir, boot, old);
  const next = takeOver(stateDir);
  t.throws(() => writeBoot(stateDir, { ...boot, active: "b" }, old), { name: "FencedError" });
  t.is(readBoot(stateDir)?.active, "a");
  next.release();
  old.release();
});

test("a takeover that is itself interrupted before the queue was copied is completed by the next", (t) => {
  const stateDir = temporaryState(t);
  const path = join(stateDir, QUEUE_FILE);
  const old = Lease.ofHost(stateDir);
  const paused = new FileBlocks(path, SECTOR, quiet, UNFENCED);
  // Of a process that was killed.
  writeFileSync(join(stateDir, "host.lock.2"), "");
  const lease = takeOver(stateDir);
  t.true(paused.write(0, Uint8Array.of(1)));
  const blocks = new FileBlocks(path, SECTOR, quiet, lease);
  const found = new Uint8Array(1);
  t.true(blocks.read(0, found));
  t.is(found[0], 255);
  t.deepEqual(
    readdirSync(stateDir).filter((name) => name.startsWith("host.lock")),
    ["host.lock.3"],
  );
  paused.close();
  blocks.close();
  lease.release();
  old.release();
});

// A disk that takes no more bytes: file names can still be made, renamed and removed.

function fail(code: string): never {
  throw Object.assign(new Error(code), { code });
}

/** Runs `work` with other functions of node:fs. */
function whilePatched<T>(work: () => T, functions: object): T {
  const before = Object.fromEntries(
    Object.keys(functions).map((name) => [name, fs[name as keyof typeof fs]]),
  );
  Object.assign(fs, functions);
  syncBuiltinESMExports();
  try {
    return work();
  } finally {
    Object.assign(fs, before);
    syncBuiltinESMExports();
  }
}

/** No more than `room` bytes can be written; without limit to the file with this inode. */
function whileFull<T>(work: () => T, { room = 0, except = -1 } = {}): T {
  const { writeSync } = fs;
  let left = room;
  return whilePatched(work, {
    writeSync(file: number, bytes: Uint8Array, from: number, length: number, at: number): number {
      const isExcepted = fs.fstatSync(file).ino === except;
      if (!isExcepted) left -= length;
      return isExcepted || left >= 0 ? writeSync(file, bytes, from, length, at) : fail("ENOSPC");
    },
  });
}

const QUEUE = { blocksBytes: 32_768 };
const isWhole = (path: string): boolean => statSync(path).blocks * 512 >= QUEUE.blocksBytes;

test("a queue without disk space, or unreadable, prevents the start and stays as it was", (t) => {
  const stateDir = temporaryState(t);
  const path = join(stateDir, "blocks.bin");
  const refused = (message: string | RegExp) =>
    t.throws(() => createHost({ stateDir, ...QUEUE }), { name: "QueueFileError", message });
  const noRoom =
    /no room for the durable queue .*blocks\.bin \(32768 bytes\): free that much and start again/;
  for (const room of [0, 20_000]) whileFull(() => refused(noRoom), { room });
  createHost({ stateDir, ...QUEUE }).close();
  t.is(statSync(path).size, QUEUE.blocksBytes);
  t.true(isWhole(path));
  const { readSync } = fs;
  const unreadable = (file: number, bytes: Uint8Array, from: number, length: number, at: number) =>
    at === 12_288 ? fail("EIO") : readSync(file, bytes, from, length, at);
  const reason = `the durable queue ${path} can't be read or reserved (EIO): check the disk; the file was left as it is`;
  whilePatched(() => refused(reason), { readSync: unreadable });
});

test("a sparse queue of an older version gets all its room before anything is accepted", (t) => {
  const stateDir = temporaryState(t);
  const path = join(stateDir, "blocks.bin");
  const old = Buffer.alloc(QUEUE.blocksBytes);
  old.fill(0x5a, 4096, 8192);
  // A hole before the sector that is in use, and behind it.
  const file = openSync(path, "w");
  writeSync(file, old, 4096, 4096, 4096);
  ftruncateSync(file, old.length);
  closeSync(file);
  t.false(isWhole(path));
  whileFull(() => t.throws(() => createHost({ stateDir, ...QUEUE }), { message: /no room/ }));
  createHost({ stateDir, ...QUEUE }).close();
  t.true(isWhole(path));
  t.deepEqual(readFileSync(path), old);
});

test("with a disk that is full afterwards, every accepted point is delivered by the next start", (t) => {
  const stateDir = temporaryState(t);
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const start = () => {
    const host = createHost({ stateDir, blocksBytes: 64 * SECTOR, log: quiet });
    return { host, outbox: new Outbox({ ...host, clock }, new Time(host), {}) };
  };
  const first = start();
  const { ino } = statSync(join(stateDir, "blocks.bin"));
  whileFull(
    () => {
      for (let n = 0; n < 600; n++) t.true(first.outbox.append(textOf(n), undefined));
      // Killed: nothing is closed in good order.
      first.host.close();
    },
    { except: ino },
  );
  const next = start();
  t.deepEqual(waitingNumbers(next.outbox), [...Array(600).keys()]);
  t.is(next.outbox.drops, 0);
  next.host.close();
});

test("on a full disk files are replaced whole or not at all, and the directory is taken and released", async (t) => {
  const directory = temporaryState(t);
  replaceFile(join(directory, "a"), Buffer.from("old"), UNFENCED);
  const replace = (): void => replaceFile(join(directory, "a"), Buffer.from("new"), UNFENCED);
  whileFull(() => t.throws(replace, { code: "ENOSPC" }));
  t.deepEqual(readdirSync(directory), ["a"]);
  const lease = await whileFull(() => Lease.ofRun(directory));
  t.true(lease.held);
  whileFull(() => lease.release());
  t.deepEqual(readdirSync(directory).sort(), ["a", "host.lock.1.free", "run.lock.1.free"]);
  // Without a file name it holds nothing, and goes on.
  const without = await whilePatched(() => Lease.ofRun(temporaryState(t)), {
    linkSync: () => fail("ENOSPC"),
  });
  t.deepEqual([without.held, without.holds()], [false, true]);
  without.release();
});

test("on a full disk the image of the last start is started again, and no other in its place", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"), UNFENCED);
  const first = prepareStart(directory, UNFENCED, quiet);
  whileFull(() => t.deepEqual(prepareStart(directory, UNFENCED, quiet), first));
  t.deepEqual(readdirSync(join(directory, "run")), ["image.mjs"]);
  flash(directory, image("2.0.0"), UNFENCED);
  whileFull(() => t.throws(() => prepareStart(directory, UNFENCED, quiet), { code: "ENOSPC" }));
  t.is(readBoot(directory)?.state, "confirmed");
  t.notThrows(() => forgetStart(directory, UNFENCED));
  if (existsSync("/proc/self")) t.throws(() => makeDirectory("/proc/no-such/place"));
});
