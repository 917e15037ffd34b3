// Builds dist if a source is newer than what stands there. All of it is built in memory and then written, file by file: a failed build changes nothing,
// and a platform that runs from dist never meets half a file. Types are checked elsewhere (npm run check:types).
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./lock.mjs";
import { isFresh, readStamp, signatures } from "./stamp.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");

if (!isFresh(out, signatures(root), readStamp(out))) {
  mkdirSync(out, { recursive: true });
  const release = await takeLock(join(out, ".lock"));
  try {
    // Somebody else may have built it meanwhile.
    const [now, before] = [signatures(root), readStamp(out)];
    if (!isFresh(out, now, before)) await (await import("./compile.mjs")).compile(root, out, now, before);
  } finally {
    release();
  }
}
