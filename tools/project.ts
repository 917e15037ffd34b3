import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function findProject(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "manifest.json"))) folder = dirname(folder);
  return folder;
}

/** The root of this project or of the installed package, from the sources and from `dist` alike. */
export const PROJECT = findProject();

/** A file that scripts/build.mjs makes, by its path in `dist`. */
export const builtFile = (path: string): string => join(PROJECT, "dist", path);
