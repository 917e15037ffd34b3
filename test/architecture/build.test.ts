// Nothing is built twice, and no two builds at once.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test, { type ExecutionContext } from "ava";
import { root } from "./tree.js";

const script = (name: string) => import(pathToFileURL(join(root, "scripts", name)).href);
const { isFresh, readStamp, signatures, stampFile } = await script("stamp.mjs");
const { takeLock } = await script("lock.mjs");

function place(t: ExecutionContext): string {
  const made = mkdtempSync(join(tmpdir(), "mote-build-"));
  t.teardown(() => rmSync(made, { recursive: true }));
  for (const folder of ["src", "hosts", "tools", "examples", "test", "scripts", "dist"])
    mkdirSync(join(made, folder));
  writeFileSync(join(made, "src/a.ts"), "export {};");
  writeFileSync(join(made, "dist/a.js"), "export {};");
  return made;
}

test("dist is built again when a source is newer, longer, new or gone, and when a file of it is missing", (t) => {
  const made = place(t);
  const out = join(made, "dist");
  const fresh = () => isFresh(out, signatures(made), readStamp(out));
  t.false(fresh(), "never built");
  const stamp = () =>
    writeFileSync(
      stampFile(out),
      JSON.stringify({ sources: signatures(made), modules: {}, outputs: ["a.js"] }),
    );
  stamp();
  t.true(fresh());
  utimesSync(join(made, "src/a.ts"), 1, 2);
  t.false(fresh(), "newer");
  stamp();
  writeFileSync(join(made, "src/b.ts"), "");
  t.false(fresh(), "new");
  stamp();
  rmSync(join(made, "src/b.ts"));
  t.false(fresh(), "gone");
  stamp();
  t.true(fresh());
  rmSync(join(out, "a.js"));
  t.false(fresh(), "missing");
});

test("who holds the lock keeps others waiting, but not when it is gone", async (t) => {
  const file = join(place(t), "lock");
  // No process has this number.
  writeFileSync(file, String(2 ** 30));
  const release = await takeLock(file);
  let taken = false;
  const second = takeLock(file).then((give: () => void) => {
    taken = true;
    return give;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.false(taken);
  release();
  (await second)();
  t.true(taken);
});
