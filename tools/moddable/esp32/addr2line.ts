// Names code addresses of a crash with the addr2line of ESP-IDF's toolchains.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "../program.js";
import { SdkError } from "../sdk.js";

const RISCV = 243;
/** By the ELF file's machine. */
const TOOLS: Readonly<Record<number, readonly string[]>> = {
  [RISCV]: ["riscv32-esp-elf-addr2line"],
  94: ["xtensa-esp32-elf-addr2line", "xtensa-esp32s3-elf-addr2line", "xtensa-esp-elf-addr2line"],
};
const ADDRESS = /\b0x4[0-9a-f]{7}\b/gi;
/** A device log names the build by the start of its ELF file's SHA-256. */
const BACKTRACE = /\bbacktrace of ([0-9a-f]{16}):/;

export interface Elf {
  readonly path: string;
  readonly tool: string;
  readonly build: string;
  readonly isRiscv: boolean;
}

/**
 * Finds xs_esp32.elf, or takes the file itself. Throws SdkError for another file, or without
 * addr2line.
 */
export function findElf(path: string, env: NodeJS.ProcessEnv = process.env): Elf {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const file = isFolder ? join(path, "xs_esp32.elf") : path;
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const isElf = bytes.length >= 52 && bytes.readUInt32BE(0) === 0x7f454c46;
  const machine = isElf ? bytes.readUInt16LE(18) : 0;
  const tools = TOOLS[machine];
  if (!tools) throw new SdkError(`${file} is not an ELF file of a board (mote esp32 --build leaves one)`);
  const tool = tools.find((name) => onPath(name, env));
  if (tool === undefined) throw new SdkError(`${tools[0]} is not on the path (run: . $IDF_PATH/export.sh)`);
  const build = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { path: file, tool, build, isRiscv: machine === RISCV };
}

/**
 * One line per address: function, file and line, with functions inlined there. The first address is
 * the program counter, the others are where calls return to. After a call that never returns, that
 * is the next function, so the instruction before counts. (Xtensa's backtrace already has it.)
 */
export function placesOf(
  { path, tool, isRiscv }: Elf,
  addresses: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): string[] {
  if (addresses.length === 0) return [];
  const asked = addresses.map((address, index) =>
    isRiscv && index > 0 ? `0x${(Number(address) - 1).toString(16)}` : address,
  );
  const { stdout } = spawnSync(tool, ["-pfiaC", "-e", path, ...asked], { env, encoding: "utf8" });
  const places = (stdout ?? "").trimEnd().replaceAll(/\n\s+/g, " ").split("\n");
  return places.map((place, index) => place.replace(/^0x[0-9a-f]+/, addresses[index] ?? "$&"));
}

/** The places of the code addresses in a log line; a backtrace of another build is not decoded. */
export function placesInLine(elf: Elf, line: string, env?: NodeJS.ProcessEnv): string[] {
  const build = BACKTRACE.exec(line)?.[1];
  if (build !== undefined && build !== elf.build)
    return [`not decoded: the backtrace is from another build (this one: ${elf.build})`];
  return placesOf(elf, line.match(ADDRESS) ?? [], env);
}
