// What dist was built from, and what it holds: dist/.stamp.json. A source that has the date and the length of then is the same.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

const FOLDERS = ["src", "hosts", "tools", "examples", "test", "scripts"];
const FILES = ["package.json", "package-lock.json", "tsconfig.json"];
const NAME = ".stamp.json";

export const stampFile = (out) => join(out, NAME);

/** Of each source its date and length, by its path from the root. */
export function signatures(root) {
  const found = {};
  const add = (path) => {
    const { mtimeMs, size } = statSync(path);
    found[relative(root, path).split(sep).join("/")] = `${mtimeMs} ${size}`;
  };
  for (const folder of FOLDERS)
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
      if (entry.isFile()) add(join(entry.parentPath, entry.name));
  for (const name of FILES) if (existsSync(join(root, name))) add(join(root, name));
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** `sources`: their signatures; `modules`: the sources of each of the board's modules; `outputs`: paths in dist. */
export function readStamp(out) {
  try {
    return JSON.parse(readFileSync(stampFile(out), "utf8"));
  } catch {
    return { sources: {}, modules: {}, outputs: [] };
  }
}

/** Whether dist is what these sources make, and whole. */
export function isFresh(out, now, { sources, outputs }) {
  return isSame(now, sources) && outputs.length > 0 && outputs.every((path) => existsSync(join(out, path)));
}

export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
