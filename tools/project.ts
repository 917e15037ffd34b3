import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The nearest folder with `manifest.json`, from `start` up. Throws Error if there is none. */
export function findProject(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "manifest.json"))) return folder;
    if (folder === dirname(folder))
      throw new Error(
        `no manifest.json in a folder above ${start}: mote was copied in part (install it again)`,
      );
  }
}

/** The root of this project or of the installed package, from the sources and from `dist` alike. */
export const PROJECT = findProject(dirname(fileURLToPath(import.meta.url)));

/** A file that scripts/build.mjs makes, by its path in `dist`. */
export const builtFile = (path: string): string => join(PROJECT, "dist", path);
