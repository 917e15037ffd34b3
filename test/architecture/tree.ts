import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { PROJECT as root } from "../../tools/project.js";

export { root };

const NOT_OURS = new Set(["node_modules", "dist", "build", ".git", ".mote"]);

/** A file: its path from the root, with slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** All files below these folders (`.` is the whole tree) whose name fits. */
export function files(folder: string, name: RegExp): Source[] {
  const found: Source[] = [];
  const visit = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory() && !NOT_OURS.has(entry.name)) visit(path);
      if (entry.isFile() && name.test(entry.name)) {
        found.push({ path: relative(root, path).split(sep).join("/"), text: readFileSync(path, "utf8") });
      }
    }
  };
  if (existsSync(join(root, folder))) visit(join(root, folder));
  return found;
}

/** What the rule finds in all of these files, each line with its file. */
export const offences = (
  sources: readonly Source[],
  rule: (text: string, path: string) => string[],
): string[] => sources.flatMap(({ path, text }) => rule(text, path).map((what) => `${path}: ${what}`));
