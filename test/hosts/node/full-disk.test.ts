// A disk that takes no more bytes: file names can still be made, renamed and removed.
import fs, { readdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import test from "ava";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { makeDirectory, replaceFile } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { Lock } from "../../../hosts/node/lock.js";
import { forgetStart, prepareStart } from "../../../hosts/node/start-up.js";
import { image } from "./images.js";
import { temporaryState } from "./session.js";

const quiet = (): void => {};

/** Runs `work` while no byte can be written to any file. */
function whileFull<T>(work: () => T): T {
  const { writeSync } = fs;
  const refuse = (): never => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  };
  Object.assign(fs, { writeSync: refuse });
  syncBuiltinESMExports();
  try {
    return work();
  } finally {
    Object.assign(fs, { writeSync });
    syncBuiltinESMExports();
  }
}

test.serial("a file that could not be replaced stays as it was, and nothing is left beside it", (t) => {
  const directory = temporaryState(t);
  replaceFile(join(directory, "a"), Buffer.from("old"));
  whileFull(() => t.throws(() => replaceFile(join(directory, "a"), Buffer.from("new")), { code: "ENOSPC" }));
  t.deepEqual(readdirSync(directory), ["a"]);
});

test.serial("a lock that can't be written holds nothing, and the way goes on", async (t) => {
  const directory = temporaryState(t);
  const lock = await whileFull(() => Lock.take(directory));
  t.false(lock.held);
  t.notThrows(() => lock.worker(process.pid));
  lock.release();
});

test.serial("a worker that can't be noted starts all the same", async (t) => {
  const directory = temporaryState(t);
  const lock = await Lock.take(directory);
  whileFull(() => t.notThrows(() => lock.worker(process.pid)));
  lock.release();
  t.deepEqual(readdirSync(directory), []);
});

test.serial("the image of the last start is started again where it can't be written again", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"));
  const first = prepareStart(directory, quiet);
  whileFull(() => t.deepEqual(prepareStart(directory, quiet), first));
  t.deepEqual(readdirSync(join(directory, "run")), ["image.mjs"]);
});

test.serial("another image than that of the last start is not started in its place", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"));
  prepareStart(directory, quiet);
  flash(directory, image("2.0.0"));
  whileFull(() => t.throws(() => prepareStart(directory, quiet), { code: "ENOSPC" }));
  t.is(readBoot(directory)?.state, "confirmed");
  t.notThrows(() => forgetStart(directory));
});

test.serial("a directory that can't be made is reported, and not tried for ever", (t) => {
  if (!fs.existsSync("/proc/self")) return t.pass();
  t.throws(() => makeDirectory("/proc/no-such/place"));
});
