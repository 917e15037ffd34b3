// node scripts/passes.mjs: what each pass over the board's modules saves of the core, after those before it. Needs a built dist and $MODDABLE.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { findSdk } from "../dist/hosts/sdk/sdk.js";
import { weigh } from "../dist/hosts/sdk/weigh.js";
import { forBoard, PASSES } from "./board.mjs";

const absWorkingDir = dirname(dirname(fileURLToPath(import.meta.url)));
const how = { bundle: true, write: false, format: "esm", platform: "neutral", target: "es2022" };
const { outputFiles } = await build({ absWorkingDir, entryPoints: ["src/index.ts"], ...how });
const place = await mkdtemp(join(tmpdir(), "mote-passes-"));
const file = join(place, "mote.js");
let before;
for (let count = 0; count <= PASSES.length; count += 1) {
  await writeFile(file, await forBoard(outputFiles[0].text, PASSES.slice(0, count)));
  const after = weigh(findSdk(), [{ name: "mote", file }]);
  const saved = before ? `${before.code - after.code} of code, ${before.rom - after.rom} of all` : "";
  const name = count === 0 ? "none" : PASSES[count - 1].name;
  console.log(
    `${name.padEnd(10)}${String(after.code).padStart(8)}${String(after.rom).padStart(8)}  ${saved}`,
  );
  before = after;
}
await rm(place, { recursive: true });
