// Which modules a board's build of a project has.
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { makeBuildFolder } from "./build-folder.js";
import { idfForCheck } from "./esp32/idf.js";
import { run } from "./program.js";
import { environmentOf, type Sdk } from "./sdk.js";

/** The makefile's rules for modules. */
const RULE = /^\$\(MODULES_DIR\)\/(.+?)\.xsb:/gm;

/**
 * Their names, as programs import them. Undefined where the SDK cannot configure the project for an
 * ESP32: the board's own build says why.
 */
export async function modulesOfBoard(
  sdk: Sdk,
  folder: string,
  out: string,
): Promise<ReadonlySet<string> | undefined> {
  makeBuildFolder(out);
  const env = { ...environmentOf(sdk, folder), IDF_PATH: await idfForCheck(sdk, out) };
  try {
    await run(sdk.mcconfig, ["-p", "esp32", "-o", out], resolve(folder), env);
  } catch {
    return undefined;
  }
  return modulesIn(join(out, "tmp", "esp32", "release", basename(resolve(folder))));
}

/** Of a build that mcconfig has configured. */
export function modulesIn(directory: string): ReadonlySet<string> {
  const rules = readFileSync(join(directory, "makefile"), "utf8").matchAll(RULE);
  // "embedded:io/digital" is a file of this name: ~.embedded/io/digital
  return new Set([...rules].map(([, name = ""]) => name.replace(/^~\.([^/]+)\//, "$1:")));
}
