// A disk that takes nothing: /dev/full in the place of the file that is written aside.
import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import ava from "ava";
import { readBoot } from "../../../hosts/node/boot-record.js";
import { makeDirectory, replaceFile } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { Lock } from "../../../hosts/node/lock.js";
import { forgetStart, prepareStart } from "../../../hosts/node/start-up.js";
import { image } from "./images.js";
import { temporaryState } from "./session.js";

const test = existsSync("/dev/full") ? ava.serial : ava.skip;
const quiet = (): void => {};

const fill = (...path: string[]): void => symlinkSync("/dev/full", join(...path));

test("a file that could not be replaced stays as it was, and nothing is left beside it", (t) => {
  const directory = temporaryState(t);
  replaceFile(join(directory, "a"), Buffer.from("old"));
  fill(directory, ".a.new");
  t.throws(() => replaceFile(join(directory, "a"), Buffer.from("new")), { code: "ENOSPC" });
  t.deepEqual(readdirSync(directory), ["a"]);
});

test("a lock that can't be written holds nothing, and the way goes on", async (t) => {
  const directory = temporaryState(t);
  fill(directory, `.lock.json.${process.pid}.new`);
  const lock = await Lock.take(directory);
  t.false(lock.held);
  t.notThrows(() => lock.worker(process.pid));
  lock.release();
});

test("a worker that can't be noted starts all the same", async (t) => {
  const directory = temporaryState(t);
  const lock = await Lock.take(directory);
  fill(directory, ".lock.json.new");
  t.notThrows(() => lock.worker(process.pid));
  lock.release();
  t.deepEqual(readdirSync(directory), []);
});

test("the image of the last start is started again where it can't be written again", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"));
  const first = prepareStart(directory, quiet);
  fill(directory, "run", ".image.new");
  t.deepEqual(prepareStart(directory, quiet), first);
  t.deepEqual(readdirSync(join(directory, "run")), ["image.mjs"]);
});

test("another image than that of the last start is not started in its place", (t) => {
  const directory = temporaryState(t);
  flash(directory, image("1.0.0"));
  prepareStart(directory, quiet);
  flash(directory, image("2.0.0"));
  fill(directory, "run", ".image.new");
  t.throws(() => prepareStart(directory, quiet), { code: "ENOSPC" });
  t.is(readBoot(directory)?.state, "confirmed");
  t.notThrows(() => forgetStart(directory));
});

ava.serial("a directory that can't be made is reported, and not tried for ever", (t) => {
  if (!existsSync("/proc/self")) return t.pass();
  t.throws(() => makeDirectory("/proc/no-such/place"));
});
