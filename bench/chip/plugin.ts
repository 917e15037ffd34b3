// The counting plugin, compiled for the emulator that is installed here.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { CHIP } from "../../test/chip/chip.js";
import { findEmulator } from "../../test/chip/emulator.js";
import { onPath } from "../../tools/moddable/program.js";
import { SdkError } from "../../tools/moddable/sdk.js";
import { PROJECT } from "../../tools/project.js";

const SOURCE = join(PROJECT, "bench", "chip", "plugin", "count.c");
const HEADER = "qemu-plugin.h";
/** From the folder of the emulator: as it is installed, and as it is built. */
const BESIDE = ["../include", "../include/qemu", "../../include/qemu"];

/** The folder of the emulator's header: MOTE_QEMU_INCLUDE, or beside the emulator. */
function headerFolder(program: string): string {
  const path = program.includes("/")
    ? program
    : (process.env.PATH ?? "")
        .split(delimiter)
        .map((folder) => join(folder, program))
        .find(existsSync)!;
  const bin = dirname(realpathSync(path));
  const { MOTE_QEMU_INCLUDE } = process.env;
  const folders = [...(MOTE_QEMU_INCLUDE ? [MOTE_QEMU_INCLUDE] : []), ...BESIDE.map((way) => join(bin, way))];
  const found = folders.find((folder) => existsSync(join(folder, HEADER)));
  if (found !== undefined) return found;
  throw new SdkError(
    `${HEADER} is missing beside ${bin}: $MOTE_QEMU_INCLUDE names the folder of the emulator's own`,
  );
}

/** The plugin as the emulator loads it. Throws SdkError with the name of what is missing. */
export function compilePlugin(): string {
  const program = findEmulator(CHIP.name);
  // Built without them it has the header all the same.
  if (!execFileSync(program, ["-help"], { encoding: "utf8" }).includes("-plugin"))
    throw new SdkError(`${program} takes no plugins: it was built without --enable-plugins`);
  const folder = headerFolder(program);
  if (!onPath("gcc", process.env)) throw new SdkError("gcc is missing: it compiles the counting plugin");
  const out = join(PROJECT, "build", "chip", "count.so");
  mkdirSync(dirname(out), { recursive: true });
  execFileSync("gcc", ["-O2", "-Wall", "-shared", "-fPIC", `-I${folder}`, SOURCE, "-o", out]);
  return out;
}
