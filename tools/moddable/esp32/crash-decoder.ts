// Addresses that a crash printed, as functions and lines, by the compiler's own tool.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { onPath } from "../program.js";
import type { Image } from "./esp32.js";

/** Lines of ESP-IDF that hold addresses of code: of a RISC-V chip its registers, of an Xtensa chip its backtrace. */
const LINE = /^(?:MEPC|Backtrace|.*\bPC\b)\s*:/;
const ADDRESS = /\b0x(4[0-9a-f]{7})\b/gi;

/** For each line: what its addresses are, one line each; nothing where there are none, or no tool. */
export function decoder(image: Image, env: NodeJS.ProcessEnv): (line: string) => string[] {
  const prefix =
    image.chip.startsWith("esp32c") || image.chip === "esp32h2" ? "riscv32-esp" : `xtensa-${image.chip}`;
  const tool = `${prefix}-elf-addr2line`;
  if (!onPath(tool, env)) return () => [];
  return (line) => {
    if (!LINE.test(line)) return [];
    const addresses = [...line.matchAll(ADDRESS)].map(([, digits]) => `0x${digits}`);
    if (addresses.length === 0) return [];
    const words = ["-pfiaC", "-e", join(image.folder, "xs_esp32.elf"), ...addresses];
    const { stdout, status } = spawnSync(tool, words, { env, encoding: "utf8" });
    return status === 0
      ? stdout
          .trim()
          .split("\n")
          .filter((found) => !found.includes("??"))
      : [];
  };
}
