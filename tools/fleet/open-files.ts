import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Files that the process itself needs. */
const OWN = 64;

/** How many files this process may have open; undefined where the system does not say. */
export function openFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    if (soft !== undefined) return Number(soft);
  } catch {
    // Only Linux has that file.
  }
  try {
    const text = execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
    return /^\d+$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

/** What is wrong if so many connections need so many files; undefined if nothing is. */
export function tooFewFiles(connections: number, limit = openFiles()): string | undefined {
  const needed = connections + OWN;
  if (limit === undefined || limit >= needed) return undefined;
  return `${connections} connections need ${needed} open files, and this shell allows ${limit}: ulimit -n ${needed}`;
}
