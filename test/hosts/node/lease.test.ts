// Two processes on one state directory, and a disk that is full. Another container is this process
// under another identity.
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
import { type Holder, holderText, identify, thisProcess } from "../../../hosts/node/holder.js";
import { createHost } from "../../../hosts/node/host.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { FileStore } from "../../../hosts/node/store.js";
import { Outbox } from "../../../src/agent/queue/outbox.js";
import { Time } from "../../../src/agent/time/time.js";
import { forgetStart, prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { FakeClock } from "../../fakes/clock.js";
import { textOf, waitingNumbers } from "../../src/agent/queue/rig.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";

const SECTOR = 4096;
const DEAD = { ...thisProcess(), pid: 2 ** 22 + 1 };
const quiet = (): void => {};
// One after the other: a host that asks blocks this process.
const test = ava.serial;
const linux = process.platform === "linux" ? test : ava.serial.skip;

/** A process of another container on this machine. */
const elsewhere = (pid = 1): Holder => ({ ...thisProcess(), pid, space: "4000000001", machine: "" });

/** Blocks this process, so that a holder in it cannot answer. */
const takeOver = (stateDir: string): Lease => Lease.ofHost(stateDir, { me: elsewhere(), silenceMs: 200 });

/** The lease file of `kind`, as if `holder` had taken it. */
function hold(stateDir: string, kind: string, holder: Holder, end = ""): void {
  writeFileSync(join(stateDir, `${kind}.lease.7.${holderText(holder)}${end}`), "");
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
  t.regex(readdirSync(stateDir).join(), /^host\.lease\.1\.\d+\.[^,]*$/);
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
  const ended: Holder[] = [
    DEAD,
    { ...me, pid: process.pid, started: "1" },
    { ...me, pid: process.ppid, started: "1" },
    // The machine was started again since; a container has no machine.
    { ...me, pid: process.ppid, boot: "another", machine: me.machine || "none" },
  ];
  for (const holder of me.machine ? ended : ended.slice(0, 3)) {
    const stateDir = temporaryState(t);
    hold(stateDir, "host", holder);
    hold(stateDir, "run", holder);
    const [lease, ms] = await took(() => Lease.ofRun(stateDir));
    t.true(ms < 1000, `${ms} ms`);
    lease.release();
  }
});

test("a holder whose name or process id means nothing here is asked, and replaced when it does not answer", async (t) => {
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
  const stateDir = temporaryState(t);
  writeFileSync(join(stateDir, "host.lease.3.odd"), "");
  takeOver(stateDir).release();
  t.deepEqual(readdirSync(stateDir), ["host.lease.4"]);
});

test("a holder in another container answers, and the new process says so, or waits until it is stopped", async (t) => {
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
  const lease = await waiting;
  t.true(lease.holds());
  lease.release();
  const other = temporaryState(t);
  hold(other, "run", elsewhere());
  const stop = new AbortController();
  const stopped = Lease.ofRun(other, { stop: stop.signal, silenceMs: 60_000 });
  stop.abort();
  await t.throwsAsync(stopped, { instanceOf: LockedError });
});

test("a holder that was taken over, or whose file was removed, learns it and holds nothing", async (t) => {
  const stateDir = temporaryState(t);
  const old = Lease.ofHost(stateDir);
  const next = takeOver(stateDir);
  t.false(old.holds());
  t.true(await isLost(old));
  old.release();
  t.true(next.holds());
  rmSync(join(stateDir, readdirSync(stateDir).find((name) => name.startsWith("host.lease")) ?? ""));
  t.false(next.holds());
  const gone = join(temporaryState(t), "gone");
  mkdirSync(gone);
  const other = Lease.ofHost(gone);
  rmSync(gone, { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 1200));
  t.false(other.lost.aborted, "without its directory nothing is said");
  for (const lease of [next, other]) lease.release();
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
  hold(stateDir, "host", DEAD, ".unclean");
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
  hold(stateDir, "host", DEAD);
  // As the slower of the two sees it, which made the first lease before it saw the other's.
  writeFileSync(join(stateDir, "host.lease.0"), "");
  const lease = Lease.ofHost(stateDir);
  t.regex(readdirSync(stateDir).join(), /^host\.lease\.8[^,]*$/);
  lease.release();
});

linux("the lock file of an older version counts if its process runs, and is removed otherwise", async (t) => {
  const { boot, started } = thisProcess();
  for (const lock of ["host.json", "lock.json"]) {
    const stateDir = temporaryState(t);
    const take = async () => (lock === "host.json" ? Lease.ofHost(stateDir) : await Lease.ofRun(stateDir));
    writeFileSync(join(stateDir, lock), JSON.stringify({ pid: process.pid, since: `${boot}/${started}` }));
    await t.throwsAsync(take, { instanceOf: LockedError, message: /in use by process \d+$/ });
    writeFileSync(join(stateDir, lock), JSON.stringify({ pid: process.pid, since: `${boot}/1` }));
    (await take()).release();
    t.false(readdirSync(stateDir).includes(lock));
  }
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
  whileFull(() => {
    t.notThrows(() => lease.worker(process.pid));
    lease.release();
  });
  t.deepEqual(readdirSync(directory).sort(), ["a", "host.lease.1", "run.lease.1"]);
  // Without a file name it holds nothing, and goes on.
  const other = await whilePatched(() => Lease.ofRun(temporaryState(t)), {
    renameSync: () => fail("ENOSPC"),
  });
  t.deepEqual([other.held, other.holds()], [false, true]);
  other.release();
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
  if (fs.existsSync("/proc/self")) t.throws(() => makeDirectory("/proc/no-such/place"));
});
