// Files of the state directory when something else lies where they are to be written.
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { FileBlocks } from "../../../hosts/node/blocks.js";
import { makeDirectory, UNFENCED } from "../../../hosts/node/files.js";
import { flash } from "../../../hosts/node/flash.js";
import { FileLogMemory } from "../../../hosts/node/log-memory.js";
import { prepareStart } from "../../../hosts/node/start-up.js";
import { FileStore } from "../../../hosts/node/store.js";
import { image } from "../../tools/run/images.js";
import { temporaryState } from "../../tools/run/session.js";

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
