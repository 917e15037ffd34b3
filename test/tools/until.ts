import { readFileSync } from "node:fs";

interface Patience {
  readonly ms?: number;
  readonly everyMs?: number;
  /** For the error. */
  readonly what?: string;
}

/** Looks again and again until there is something other than `undefined` and `false`. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { ms = 60_000, everyMs = 20, what = `${look}` }: Patience = {},
): Promise<T> {
  for (const end = Date.now() + ms; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`waited ${ms / 1000} s in vain until ${what}`);
}

/** Resolves with `true` once the process has ended. */
export const processEnds = (pid: number): Promise<boolean> =>
  until(() => {
    try {
      // A zombie, for which nobody has waited yet, has ended too.
      return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
    } catch {
      // Without /proc, as on macOS, a signal finds a process that runs.
    }
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
