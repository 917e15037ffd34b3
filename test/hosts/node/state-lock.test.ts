// The lock of a state directory, and a disk that is full.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs, { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { Server } from "node:net";
import { join } from "node:path";
import ava from "ava";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { makeDirectory, replaceFile } from "../../../hosts/node/files.js";
import { createHost } from "../../../hosts/node/host.js";
import { ask } from "../../../hosts/node/lock-socket.js";
import { LockedError, StateLock } from "../../../hosts/node/state-lock.js";
import { Outbox } from "../../../src/agent/queue/outbox.js";
import { Time } from "../../../src/agent/time/time.js";
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

/** Another process that listens at `path`, answering with `answer`. */
async function listener(
  t: Parameters<typeof temporaryState>[0],
  path: string,
  answer: string,
): Promise<ChildProcess> {
  const code = `require("net").createServer((s) => ${answer}).listen(process.argv[1], () => console.log(1))`;
  const child = spawn(process.execPath, ["-e", code, path], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => child.kill("SIGKILL"));
  if (child.stdout) await once(child.stdout, "data");
  return child;
}

const ANSWERS = "s.end(String(process.pid))";

test("a lock is one file that ends with its release, and one host of a process has it", (t) => {
  const stateDir = temporaryState(t);
  const lock = StateLock.ofHost(stateDir);
  t.true(lock.held);
  t.regex(readdirSync(stateDir).join(), /^host\.lock\.[0-9a-f]{16}$/);
  t.throws(() => StateLock.ofHost(stateDir), {
    instanceOf: LockedError,
    message: /another host of this process/,
  });
  lock.release();
  t.deepEqual(readdirSync(stateDir), []);
  StateLock.ofHost(stateDir).release();
});

test("a process that runs or is paused refuses others by name, a dead one gives way at once", async (t) => {
  const stateDir = temporaryState(t);
  const first = await listener(t, join(stateDir, "host.lock.1"), ANSWERS);
  const inUse = { instanceOf: LockedError, message: `${stateDir} is in use by process ${first.pid}` };
  t.throws(() => StateLock.ofHost(stateDir), inUse);
  await t.throwsAsync(StateLock.ofRun(stateDir), inUse);
  first.kill("SIGSTOP");
  t.throws(() => StateLock.ofHost(stateDir), { instanceOf: LockedError, message: /does not answer/ });
  writeFileSync(join(stateDir, ".token.bin.9.new"), "");
  first.kill("SIGKILL");
  await once(first, "exit");
  const lock = await StateLock.ofRun(stateDir);
  t.regex(readdirSync(stateDir).join(), /^run\.lock\.[0-9a-f]{16}$/);
  lock.release();
});

test("of two that start at once none overlooks the other", (t) => {
  const stateDir = temporaryState(t);
  const { renameSync } = fs;
  let rival: StateLock | undefined;
  const racing = {
    renameSync(from: string, to: string) {
      const isFirst = rival === undefined;
      // The rival looks around before this one has its name.
      if (isFirst) rival = whilePatched(() => StateLock.ofHost(stateDir), { renameSync });
      renameSync(from, to);
    },
  };
  t.throws(() => whilePatched(() => StateLock.ofHost(stateDir), racing), { instanceOf: LockedError });
  t.is(readdirSync(stateDir).length, 1);
  rival?.release();
});

test("waits for a process that runs, until it stops or the caller is stopped", async (t) => {
  const stateDir = temporaryState(t);
  const old = await StateLock.ofRun(stateDir);
  const said: string[] = [];
  const options = { waitMs: 60_000, tell: (line: string) => said.push(line) };
  const waiting = StateLock.ofRun(stateDir, options);
  t.deepEqual(said, [
    `${stateDir} is in use by another host of this process: waiting up to 60 s for it to stop`,
  ]);
  old.release();
  const lock = await waiting;
  t.true(lock.held);
  const stop = new AbortController();
  const stopped = StateLock.ofRun(stateDir, { ...options, stop: stop.signal });
  stop.abort();
  await t.throwsAsync(stopped, { instanceOf: LockedError });
  lock.release();
});

test("only a refusal proves that a process is dead", async (t) => {
  const path = join(temporaryState(t), "socket");
  t.is(ask(path), "dead");
  // As a process without free file descriptors does.
  const closes = await listener(t, path, "s.destroy()");
  t.is(ask(path, 200), "silent");
  closes.kill("SIGKILL");
  await once(closes, "exit");
  t.is(ask(path), "dead");
});

(process.getuid?.() === 0 ? ava.serial.skip : test)("another user's lock is not removed", async (t) => {
  const stateDir = temporaryState(t);
  await listener(t, join(stateDir, "host.lock.1"), ANSWERS);
  fs.chmodSync(join(stateDir, "host.lock.1"), 0);
  t.throws(() => StateLock.ofHost(stateDir), { instanceOf: LockedError, message: /another user/ });
});

linux("a directory with a long path can be locked", (t) => {
  const stateDir = join(temporaryState(t), "long".repeat(50));
  mkdirSync(stateDir);
  const lock = StateLock.ofHost(stateDir);
  t.true(lock.held);
  t.true(existsSync(join(stateDir, readdirSync(stateDir)[0] ?? "")));
  lock.release();
});

linux("a network disk, or one without sockets, is refused by name", (t) => {
  const stateDir = temporaryState(t);
  whilePatched(
    () => t.throws(() => StateLock.ofHost(stateDir), { message: /is on NFS, .*: use a local file system/ }),
    { statfsSync: () => ({ type: 0x6969 }) },
  );
  const { listen } = Server.prototype;
  Server.prototype.listen = function deaf() {
    return this;
  };
  try {
    t.throws(() => StateLock.ofHost(stateDir), { message: /use a file system with Unix sockets/ });
  } finally {
    Server.prototype.listen = listen;
  }
  t.deepEqual(readdirSync(stateDir), []);
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
  replaceFile(join(directory, "a"), Buffer.from("old"));
  const replace = (): void => replaceFile(join(directory, "a"), Buffer.from("new"));
  whileFull(() => t.throws(replace, { code: "ENOSPC" }));
  t.deepEqual(readdirSync(directory), ["a"]);
  const lock = await whileFull(() => StateLock.ofRun(directory));
  t.true(lock.held);
  whileFull(() => lock.release());
  t.deepEqual(readdirSync(directory), ["a"]);
  // Without a file name it locks nobody out, and goes on.
  const without = await whilePatched(() => StateLock.ofRun(temporaryState(t)), {
    renameSync: () => fail("ENOSPC"),
  });
  t.false(without.held);
  without.release();
});

test("on a full disk the image of the last start is started again, and no other in its place", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"));
  const first = prepareStart(directory, quiet);
  whileFull(() => t.deepEqual(prepareStart(directory, quiet), first));
  t.deepEqual(readdirSync(join(directory, "run")), ["image.mjs"]);
  flash(directory, image("2.0.0"));
  whileFull(() => t.throws(() => prepareStart(directory, quiet), { code: "ENOSPC" }));
  t.is(readBoot(directory)?.state, "confirmed");
  t.notThrows(() => forgetStart(directory));
  if (existsSync("/proc/self")) t.throws(() => makeDirectory("/proc/no-such/place"));
});
