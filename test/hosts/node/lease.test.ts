// Two processes on one state directory. Another container is this process under another identity.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  closeSync,
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
import { join } from "node:path";
import ava from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { readBoot, writeBoot } from "../../../hosts/node/boot-record.js";
import { type Fence, makeDirectory, QUEUE_FILE, replaceFile, UNFENCED } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { type Holder, holderText, identify, thisProcess } from "../../../hosts/node/holder.js";
import { createHost } from "../../../hosts/node/host.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { forgetStart, prepareStart } from "../../../hosts/node/start-up.js";
import { FileStore } from "../../../hosts/node/store.js";
import { Outbox } from "../../../src/agent/queue/outbox.js";
import { Time } from "../../../src/agent/time/time.js";
import { FakeClock } from "../../fakes/clock.js";
import { textOf, waitingNumbers } from "../../src/agent/queue/rig.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";

const SECTOR = 4096;
const quiet = (): void => {};
// One after the other: a host that asks blocks this process.
const test = ava.serial;
const linux = process.platform === "linux" ? test : ava.serial.skip;

/** A process of another container on this machine. */
const elsewhere = (pid = 1): Holder => ({ ...thisProcess(), pid, space: "4000000001", machine: "" });

/** Blocks this process, so that a holder in it cannot answer. */
const takeOver = (stateDir: string, pid?: number): Lease =>
  Lease.ofHost(stateDir, { me: elsewhere(pid), silenceMs: 200 });

/** The lease file of `kind`, as if `holder` had taken it. */
function hold(stateDir: string, kind: string, holder: Holder): void {
  writeFileSync(join(stateDir, `${kind}.lease.7.${holderText(holder)}`), "");
}

/** Looks for up to a minute. The lease's own timer keeps no process alive. */
async function isLost({ lost }: Lease): Promise<boolean> {
  for (let n = 0; n < 1200 && !lost.aborted; n++) await new Promise((resolve) => setTimeout(resolve, 50));
  return lost.aborted;
}

async function took<T>(work: () => T | Promise<T>): Promise<[T, ms: number]> {
  const begin = performance.now();
  const value = await work();
  return [value, performance.now() - begin];
}

test("a lease is one empty file, which is free again after its release", (t) => {
  const stateDir = temporaryState(t);
  const lease = Lease.ofHost(stateDir);
  const [name = ""] = readdirSync(stateDir);
  t.regex(name, /^host\.lease\.1\.\d+\./);
  t.true(lease.held && lease.holds());
  lease.release();
  t.deepEqual(readdirSync(stateDir), ["host.lease.1"]);
  const second = Lease.ofHost(stateDir);
  t.is(readdirSync(stateDir).length, 1);
  second.release();
});

linux("a holder that runs refuses a second one, in this process and in another", async (t) => {
  const stateDir = temporaryState(t);
  const lease = Lease.ofHost(stateDir);
  t.throws(() => Lease.ofHost(stateDir), {
    instanceOf: LockedError,
    message: /another host of this process/,
  });
  lease.release();
  const other = spawn("sleep", ["60"]);
  t.teardown(() => other.kill());
  await once(other, "spawn");
  const otherState = temporaryState(t);
  hold(otherState, "run", { ...thisProcess(), ...identify(other.pid ?? 0) });
  await t.throwsAsync(Lease.ofRun(otherState), {
    instanceOf: LockedError,
    message: `${otherState} is in use by process ${other.pid}`,
  });
});

linux("a process of this machine that ended is replaced at once, also if its id is used again", async (t) => {
  const me = thisProcess();
  const dead: Holder[] = [
    { ...me, pid: 2 ** 22 + 1 },
    { ...me, pid: process.pid, started: "1" },
    { ...me, pid: process.ppid, started: "1" },
    // The machine was started again since; a container has no machine.
    { ...me, pid: process.ppid, boot: "another", machine: me.machine || "none" },
  ];
  for (const holder of me.machine ? dead : dead.slice(0, 3)) {
    const stateDir = temporaryState(t);
    hold(stateDir, "host", holder);
    hold(stateDir, "run", holder);
    const [lease, ms] = await took(() => Lease.ofRun(stateDir));
    t.true(ms < 1000, `${ms} ms`);
    lease.release();
  }
});

test("a holder whose process id means nothing here is asked, and replaced when it does not answer", async (t) => {
  for (const holder of [elsewhere(), { ...thisProcess(), boot: "another", machine: "" }]) {
    const stateDir = temporaryState(t);
    hold(stateDir, "host", holder);
    const said: string[] = [];
    const tell = (line: string) => said.push(line);
    const [lease, ms] = await took(() => Lease.ofRun(stateDir, { silenceMs: 1200, tell }));
    t.true(ms >= 1100, `${ms} ms`);
    t.deepEqual(said, [`${stateDir} was in use by process ${holder.pid}: waiting 1.2 s for its answer`]);
    lease.release();
  }
});

test("a name that nobody can read is asked too", (t) => {
  const stateDir = temporaryState(t);
  writeFileSync(join(stateDir, "host.lease.3.odd"), "");
  Lease.ofHost(stateDir, { silenceMs: 200 }).release();
  t.deepEqual(readdirSync(stateDir), ["host.lease.4"]);
});

test("a holder in another container answers, and the new process says so or waits", async (t) => {
  const stateDir = temporaryState(t);
  const old = await Lease.ofRun(stateDir);
  const options = { me: elsewhere(), silenceMs: 60_000 };
  const error = await t.throwsAsync(Lease.ofRun(stateDir, options), { instanceOf: LockedError });
  t.is(error.message, `${stateDir} is in use by process ${process.pid} of another container or machine`);
  const said: string[] = [];
  const waiting = Lease.ofRun(stateDir, { ...options, waitMs: 60_000, tell: (line) => said.push(line) });
  while (said.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  t.deepEqual(said, [`${error.message}: waiting up to 60 s for it to stop`]);
  old.release();
  const [lease] = await took(() => waiting);
  t.true(lease.holds());
  lease.release();
});

test("a stop ends the waiting for a holder", async (t) => {
  const stateDir = temporaryState(t);
  hold(stateDir, "run", elsewhere());
  const stop = new AbortController();
  const waiting = Lease.ofRun(stateDir, { stop: stop.signal, silenceMs: 60_000 });
  stop.abort();
  await t.throwsAsync(waiting, { instanceOf: LockedError });
});

test("a holder that was taken over learns it, and holds nothing", async (t) => {
  const stateDir = temporaryState(t);
  const old = Lease.ofHost(stateDir);
  const next = takeOver(stateDir);
  t.false(old.holds());
  t.true(await isLost(old));
  old.release();
  t.true(next.holds());
  next.release();
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

for (const [what, nth, act] of [
  ["write", 1, (blocks: FileBlocks) => blocks.write(100, Uint8Array.of(9))],
  ["erase", 1, (blocks: FileBlocks) => blocks.erase(0)],
  ["write", 2, (blocks: FileBlocks) => blocks.write(100, Uint8Array.of(9))],
  ["erase", 2, (blocks: FileBlocks) => blocks.erase(0)],
] as const) {
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
    t.is(act(late), nth === 2);
    const blocks = new FileBlocks(path, SECTOR, quiet, fence.next());
    const found = new Uint8Array(104);
    t.true(blocks.read(0, found));
    const isWritten = what === "write" && nth === 2;
    const isErased = what === "erase" && nth === 2;
    t.deepEqual([...found.subarray(0, 3)], isErased ? [255, 255, 255] : [1, 2, 3]);
    t.is(found[100], isWritten ? 9 : 255);
    t.false(late.write(200, Uint8Array.of(1)));
    t.false(late.erase(0));
    t.deepEqual(
      readdirSync(stateDir).filter((name) => name.startsWith(".")),
      [],
    );
    blocks.close();
    late.close();
    fence.next().release();
    old.release();
  });
}

test("store: a takeover before a value is set or deleted leaves the value of the new process", (t) => {
  for (const act of [
    (store: FileStore) => store.set("token", Uint8Array.of(9)),
    (store: FileStore) => store.delete("token"),
  ]) {
    const stateDir = temporaryState(t);
    const path = join(stateDir, "store");
    const old = Lease.ofHost(stateDir);
    new FileStore(path, old).set("token", Uint8Array.of(1));
    const next = takeOver(stateDir);
    const store = new FileStore(path, next);
    t.true(store.set("token", Uint8Array.of(2)));
    t.false(act(new FileStore(path, old)));
    t.deepEqual(store.get("token"), Uint8Array.of(2));
    t.deepEqual(readdirSync(path), ["token.bin"]);
    next.release();
    old.release();
  }
});

test("store: a takeover between the check and the renaming leaves no trace of the late value", (t) => {
  const stateDir = temporaryState(t);
  const path = join(stateDir, "store");
  const old = Lease.ofHost(stateDir);
  new FileStore(path, old).set("token", Uint8Array.of(1));
  const fence = takenAt(old, stateDir, 1);
  t.false(new FileStore(path, fence).set("token", Uint8Array.of(9)));
  t.deepEqual(new FileStore(path, fence.next()).get("token"), Uint8Array.of(1));
  t.deepEqual(readdirSync(path), ["token.bin"]);
  fence.next().release();
  old.release();
});

test("store: a deletion that resumes after a takeover leaves the value of the new process", (t) => {
  for (const nth of [1, 2]) {
    const stateDir = temporaryState(t);
    const path = join(stateDir, "store");
    const old = Lease.ofHost(stateDir);
    new FileStore(path, old).set("token", Uint8Array.of(1));
    const fence = takenAt(old, stateDir, nth);
    const isDeleted = new FileStore(path, fence).delete("token");
    t.is(isDeleted, nth === 2);
    t.deepEqual(readdirSync(path), isDeleted ? [] : ["token.bin"]);
    fence.next().release();
    old.release();
  }
});

test("boot record: a process that was taken over cannot change which image starts", (t) => {
  const stateDir = temporaryState(t);
  const old = Lease.ofHost(stateDir);
  const boot = { active: "a", state: "confirmed", started: false, images: {} } as const;
  writeBoot(stateDir, boot, old);
  const next = takeOver(stateDir);
  t.throws(() => writeBoot(stateDir, { ...boot, active: "b" }, old), { name: "FencedError" });
  t.is(readBoot(stateDir)?.active, "a");
  next.release();
  old.release();
});

test("a takeover that is itself interrupted before the queue was copied is completed by the next", (t) => {
  const stateDir = temporaryState(t);
  writeFileSync(
    join(stateDir, `host.lease.7.${holderText({ ...thisProcess(), pid: 2 ** 22 + 1 })}.unclean`),
    "",
  );
  const path = join(stateDir, QUEUE_FILE);
  const paused = new FileBlocks(path, SECTOR, quiet, { tag: "paused", holds: () => true });
  const lease = Lease.ofHost(stateDir);
  t.true(paused.write(0, Uint8Array.of(1)));
  const blocks = new FileBlocks(path, SECTOR, quiet, lease);
  const found = new Uint8Array(1);
  t.true(blocks.read(0, found));
  t.is(found[0], 255);
  t.false(readdirSync(stateDir).some((name) => name.endsWith("unclean")));
  paused.close();
  blocks.close();
  lease.release();
});

test("of two processes that find no lease at the same time, one gets it", (t) => {
  const stateDir = temporaryState(t);
  hold(stateDir, "host", { ...thisProcess(), pid: 2 ** 22 + 1 });
  // As the slower of the two sees it, which made the first lease before it saw the other's.
  writeFileSync(join(stateDir, "host.lease.0"), "");
  const lease = Lease.ofHost(stateDir);
  t.deepEqual(
    readdirSync(stateDir).map((name) => name.split(".").slice(0, 3).join(".")),
    ["host.lease.8"],
  );
  lease.release();
});

linux("the lock file of an older version counts if its process runs, and is removed otherwise", async (t) => {
  const { boot, started } = thisProcess();
  for (const [lock, kind] of [
    ["host.json", "host"],
    ["lock.json", "run"],
  ] as const) {
    const stateDir = temporaryState(t);
    const take = async () => (kind === "host" ? Lease.ofHost(stateDir) : await Lease.ofRun(stateDir));
    writeFileSync(join(stateDir, lock), JSON.stringify({ pid: process.pid, since: `${boot}/${started}` }));
    await t.throwsAsync(take, { instanceOf: LockedError, message: /in use by process \d+$/ });
    writeFileSync(join(stateDir, lock), JSON.stringify({ pid: process.pid, since: `${boot}/1` }));
    (await take()).release();
    t.false(readdirSync(stateDir).includes(lock));
  }
});

test("a lease whose file was removed is lost; without its directory nothing is said", async (t) => {
  const stateDir = temporaryState(t);
  const lease = Lease.ofHost(stateDir);
  const [name = ""] = readdirSync(stateDir);
  rmSync(join(stateDir, name));
  t.false(lease.holds());
  t.true(await isLost(lease));
  lease.release();
  const gone = join(temporaryState(t), "gone");
  mkdirSync(gone);
  const other = Lease.ofHost(gone);
  rmSync(gone, { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 1200));
  t.false(other.lost.aborted);
  other.release();
});

// A disk that takes no more bytes: file names can still be made, renamed and removed.

/** Runs `work` while no more than `room` bytes can be written to files. */
function whileFull<T>(work: () => T, room = 0): T {
  const { writeSync } = fs;
  let left = room;
  return whilePatched(work, {
    writeSync(file: number, bytes: Uint8Array, from: number, length: number, at: number): number {
      left -= length;
      return left >= 0 ? writeSync(file, bytes, from, length, at) : refuse();
    },
  });
}

function refuse(): never {
  throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
}

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

ava.serial("a file that could not be replaced stays as it was, and nothing is left beside it", (t) => {
  const directory = temporaryState(t);
  replaceFile(join(directory, "a"), Buffer.from("old"), UNFENCED);
  whileFull(() =>
    t.throws(() => replaceFile(join(directory, "a"), Buffer.from("new"), UNFENCED), { code: "ENOSPC" }),
  );
  t.deepEqual(readdirSync(directory), ["a"]);
});

ava.serial("a queue that the disk has no room for keeps the device from starting", (t) => {
  const stateDir = temporaryState(t);
  const message =
    /no room for the durable queue .*blocks\.bin \(32768 bytes\): free that much and start again/;
  for (const room of [0, 20_000])
    whileFull(
      () =>
        t.throws(() => createHost({ stateDir, blocksBytes: 32_768 }), { name: "QueueFileError", message }),
      room,
    );
  createHost({ stateDir, blocksBytes: 32_768 }).close();
  const { size, blocks } = statSync(join(stateDir, "blocks.bin"));
  t.is(size, 32_768);
  t.true(blocks * 512 >= size);
});

ava.serial(
  "a queue with a sector that can't be read keeps the device from starting, and stays as it was",
  (t) => {
    const stateDir = temporaryState(t);
    const path = join(stateDir, "blocks.bin");
    createHost({ stateDir, blocksBytes: 32_768 }).close();
    const { readSync } = fs;
    const fails = (file: number, bytes: Uint8Array, from: number, length: number, at: number): number => {
      if (at !== 12_288) return readSync(file, bytes, from, length, at);
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    };
    Object.assign(fs, { readSync: fails });
    syncBuiltinESMExports();
    t.teardown(() => {
      Object.assign(fs, { readSync });
      syncBuiltinESMExports();
    });
    t.throws(() => createHost({ stateDir, blocksBytes: 32_768 }), {
      name: "QueueFileError",
      message: `the durable queue ${path} can't be read or reserved (EIO): check the disk; the file was left as it is`,
    });
  },
);

ava.serial("a sparse queue of an older version gets all its room before anything is accepted", (t) => {
  const stateDir = temporaryState(t);
  const path = join(stateDir, "blocks.bin");
  const old = Buffer.alloc(32_768);
  old.fill(0x5a, 4096, 8192);
  // A hole before the sector that is in use, and behind it.
  const file = openSync(path, "w");
  writeSync(file, old, 4096, 4096, 4096);
  ftruncateSync(file, old.length);
  closeSync(file);
  t.true(statSync(path).blocks * 512 < old.length);
  whileFull(() =>
    t.throws(() => createHost({ stateDir, blocksBytes: 32_768 }), {
      name: "QueueFileError",
      message: /no room/,
    }),
  );
  createHost({ stateDir, blocksBytes: 32_768 }).close();
  t.true(statSync(path).blocks * 512 >= old.length);
  t.deepEqual(readFileSync(path), old);
});

ava.serial(
  "with a disk that is full afterwards, every accepted point is delivered by the next start",
  async (t) => {
    const stateDir = temporaryState(t);
    const clock = new FakeClock(Date.UTC(2026, 0, 1));
    const start = () => {
      const host = createHost({ stateDir, blocksBytes: 64 * 4096, log: () => {} });
      const time = new Time(host);
      return { host, outbox: new Outbox({ ...host, clock }, time, {}) };
    };
    const first = start();
    const { ino } = statSync(join(stateDir, "blocks.bin"));
    const { writeSync } = fs;
    // Bytes within the queue's file still find their room; nothing else does.
    Object.assign(fs, {
      writeSync: (file: number, ...rest: [Uint8Array, number, number, number]) => {
        if (fs.fstatSync(file).ino === ino) return writeSync(file, ...rest);
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
      },
    });
    syncBuiltinESMExports();
    t.teardown(() => {
      Object.assign(fs, { writeSync });
      syncBuiltinESMExports();
    });
    for (let n = 0; n < 600; n++) t.true(first.outbox.append(textOf(n), undefined));
    // Killed: nothing is closed in good order.
    first.host.close();
    const next = start();
    t.deepEqual(waitingNumbers(next.outbox), [...Array(600).keys()]);
    t.is(next.outbox.drops, 0);
    next.host.close();
  },
);

ava.serial("the state directory is taken and released on a disk that takes no byte", async (t) => {
  const directory = temporaryState(t);
  const lease = await whileFull(() => Lease.ofRun(directory));
  t.true(lease.held);
  whileFull(() => {
    t.notThrows(() => lease.worker(process.pid));
    lease.release();
  });
  t.deepEqual(readdirSync(directory).sort(), ["host.lease.1", "run.lease.1"]);
});

ava.serial("on a disk that takes no file name, the lease holds nothing and the way goes on", async (t) => {
  const directory = temporaryState(t);
  const lease = await whilePatched(() => Lease.ofRun(directory), { renameSync: refuse });
  t.false(lease.held);
  t.true(lease.holds());
  t.notThrows(() => lease.worker(process.pid));
  lease.release();
});

ava.serial("the image of the last start is started again where it can't be written again", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"), UNFENCED);
  const first = prepareStart(directory, UNFENCED, quiet);
  whileFull(() => t.deepEqual(prepareStart(directory, UNFENCED, quiet), first));
  t.deepEqual(readdirSync(join(directory, "run")), ["image.mjs"]);
});

ava.serial("another image than that of the last start is not started in its place", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"), UNFENCED);
  prepareStart(directory, UNFENCED, quiet);
  flash(directory, image("2.0.0"), UNFENCED);
  whileFull(() => t.throws(() => prepareStart(directory, UNFENCED, quiet), { code: "ENOSPC" }));
  t.is(readBoot(directory)?.state, "confirmed");
  t.notThrows(() => forgetStart(directory, UNFENCED));
});

ava.serial("a directory that can't be made is reported, and not tried for ever", (t) => {
  if (!fs.existsSync("/proc/self")) return t.pass();
  t.throws(() => makeDirectory("/proc/no-such/place"));
});
