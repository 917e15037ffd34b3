// A disk that takes no more bytes: file names can still be made, renamed and removed.
import fs, {
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import test from "ava";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { makeDirectory, replaceFile, UNFENCED } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { createHost } from "../../../hosts/node/host.js";
import { Lease } from "../../../hosts/node/lease.js";
import { forgetStart, prepareStart } from "../../../hosts/node/start-up.js";
import { Outbox } from "../../../src/agent/queue/outbox.js";
import { Time } from "../../../src/agent/time/time.js";
import { FakeClock } from "../../fakes/clock.js";
import { textOf, waitingNumbers } from "../../src/agent/queue/rig.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";

const quiet = (): void => {};

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

test.serial("a file that could not be replaced stays as it was, and nothing is left beside it", (t) => {
  const directory = temporaryState(t);
  replaceFile(join(directory, "a"), Buffer.from("old"), UNFENCED);
  whileFull(() =>
    t.throws(() => replaceFile(join(directory, "a"), Buffer.from("new"), UNFENCED), { code: "ENOSPC" }),
  );
  t.deepEqual(readdirSync(directory), ["a"]);
});

test.serial("a queue that the disk has no room for keeps the device from starting", (t) => {
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

test.serial(
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

test.serial("a sparse queue of an older version gets all its room before anything is accepted", (t) => {
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

test.serial(
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

test.serial("the state directory is taken and released on a disk that takes no byte", async (t) => {
  const directory = temporaryState(t);
  const lease = await whileFull(() => Lease.ofRun(directory));
  t.true(lease.held);
  whileFull(() => {
    t.notThrows(() => lease.worker(process.pid));
    lease.release();
  });
  t.deepEqual(readdirSync(directory).sort(), ["host.lease.1", "run.lease.1"]);
});

test.serial("on a disk that takes no file name, the lease holds nothing and the way goes on", async (t) => {
  const directory = temporaryState(t);
  const lease = await whilePatched(() => Lease.ofRun(directory), { renameSync: refuse });
  t.false(lease.held);
  t.true(lease.holds());
  t.notThrows(() => lease.worker(process.pid));
  lease.release();
});

test.serial("the image of the last start is started again where it can't be written again", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"), UNFENCED);
  const first = prepareStart(directory, UNFENCED, quiet);
  whileFull(() => t.deepEqual(prepareStart(directory, UNFENCED, quiet), first));
  t.deepEqual(readdirSync(join(directory, "run")), ["image.mjs"]);
});

test.serial("another image than that of the last start is not started in its place", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"), UNFENCED);
  prepareStart(directory, UNFENCED, quiet);
  flash(directory, image("2.0.0"), UNFENCED);
  whileFull(() => t.throws(() => prepareStart(directory, UNFENCED, quiet), { code: "ENOSPC" }));
  t.is(readBoot(directory)?.state, "confirmed");
  t.notThrows(() => forgetStart(directory, UNFENCED));
});

test.serial("a directory that can't be made is reported, and not tried for ever", (t) => {
  if (!fs.existsSync("/proc/self")) return t.pass();
  t.throws(() => makeDirectory("/proc/no-such/place"));
});
