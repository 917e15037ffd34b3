// Two processes on one state directory. Another container is this process under another identity.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ava from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { readBoot, writeBoot } from "../../../hosts/node/boot-record.js";
import { type Fence, QUEUE_FILE } from "../../../hosts/node/files.js";
import { type Holder, holderText, identify, thisProcess } from "../../../hosts/node/holder.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { FileStore } from "../../../hosts/node/store.js";
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
