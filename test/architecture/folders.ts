// How a folder is laid out: how many files it holds, and which of them opens it.
import { posix } from "node:path";

/** More than these can't be looked through. */
export const MOST_FILES = 20;

/** The number of files in each folder, those of its folders not counted. */
export function fileCounts(paths: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

/** Folders with neither an index.ts nor a file of their own name. */
export function unopened(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return [...fileCounts(paths).keys()].filter((folder) => {
    const names = ["index", posix.basename(folder)];
    return !names.some((name) => all.has(`${folder}/${name}.ts`));
  });
}
