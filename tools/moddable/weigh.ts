// ROM that modules need: the size of a link with them minus a link without them.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { PROJECT } from "../project.js";
import { type Rom, readRom, romBytes } from "./rom.js";
import { type Sdk, SdkError } from "./sdk.js";

export interface Weight {
  /** Bytes of preloaded functions, without code that runs only at preload. */
  readonly code: number;
  /** Slots of 16 bytes: functions, variables, classes, and linked built-ins. */
  readonly slots: number;
  /** Bytes of all that the engine's data has more. */
  readonly rom: number;
}

interface Module {
  /** As it is imported. */
  readonly name: string;
  /** JavaScript that imports nothing but modules given before. */
  readonly file: string;
}

const OURS = join(PROJECT, "dist", "xs");
const IMPORT = /^import .*?["']([^"']+)["'];$/gm;

/** Modules, by file name, that import at most the core and can be measured alone. */
function weighable(): string[] {
  const names = readdirSync(OURS)
    .filter((name) => /^mote.*\.js$/.test(name))
    .map((name) => name.replace(/\.js$/, ""));
  const isAlone = (name: string): boolean =>
    [...readFileSync(fileOf(name), "utf8").matchAll(IMPORT)].every(([, from]) => from === "mote");
  return names.filter(isAlone).sort();
}

/** Weighs the core, and each other module beside the core. */
export function weighOurs(sdk: Sdk): Map<string, Weight> {
  const core = { name: "mote", file: fileOf("mote") };
  const all = new Map<string, Weight>();
  for (const name of weighable()) {
    const one = { name, file: fileOf(name) };
    all.set(name, weigh(sdk, name === "mote" ? [one] : [core, one]));
  }
  return all;
}

const fileOf = (name: string): string => join(OURS, `${name}.js`);

/** As a manifest's `creation` has it for a machine that the linker starts. */
const CREATION = "1536,512,512,64,512,64,32,53,3,1024,17,139264,main,0";

/** Weighs the last of `modules`, linked with the others. Throws SdkError if a tool fails. */
export function weigh(sdk: Sdk, modules: readonly Module[]): Weight {
  const place = mkdtempSync(join(tmpdir(), "mote-weigh-"));
  try {
    const nothing = { name: "mote-nothing", file: join(place, "nothing.js") };
    writeFileSync(nothing.file, "export {};\n");
    const before = link(sdk, place, [nothing, ...modules.slice(0, -1)]);
    const after = link(sdk, place, [nothing, ...modules]);
    const rom = romBytes(after) - romBytes(before);
    return { code: after.code - before.code, slots: after.slots - before.slots, rom };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Compiles and links these modules alone, all of them preloaded. */
function link(sdk: Sdk, place: string, modules: readonly Module[]): Rom {
  const out = mkdtempSync(join(place, "link-"));
  const compiled = modules.map(({ name, file }) => {
    const folder = join(out, "modules", dirname(name));
    mkdirSync(folder, { recursive: true });
    run(sdk, "xsc", [file, "-c", "-e", "-o", folder, "-r", basename(name)]);
    return `${name}.xsb`;
  });
  const preload = compiled.flatMap((name) => ["-p", name]);
  const files = compiled.map((name) => join(out, "modules", name));
  const base = ["-b", join(out, "modules", "/"), "-o", out, "-s", "*", "-c", CREATION];
  run(sdk, "xsl", [...base, ...preload, ...files]);
  return readRom(readFileSync(join(out, "mc.xs.c"), "utf8"));
}

function run(sdk: Sdk, tool: string, words: readonly string[]): void {
  const { status, stderr, stdout, error } = spawnSync(tool, words, { env: sdk.env, encoding: "utf8" });
  if (status === 0 && !error) return;
  const said = error ? error.message : `${stdout}\n${stderr}`.trim().split("\n").slice(-5).join("\n");
  throw new SdkError(`${tool} failed:\n${said}`);
}
