// Where a new project gets Mote from: the package that this command came in, or a clone.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { VERSION } from "../../../../src/version.js";
import { PROJECT } from "../../../project.js";

const NAME = "mote-cli";

export interface Origin {
  /** Of `mote-cli` in the project's package.json. */
  readonly spec: string;
  /** Path from the project to Mote's manifests. Begins with `./`, as the SDK's tools require. */
  readonly place: string;
}

/** For a project in the folder `path`. `root`: of this tree, or of the package. */
export function originOf(path: string, root: string = resolve(PROJECT)): Origin {
  const modules = dirname(root);
  if (basename(root) === NAME && basename(modules) === "node_modules")
    return { spec: packed(path, modules), place: `./node_modules/${NAME}` };
  return { spec: `file:${relative(path, join(root, "tools"))}`, place: `./${relative(path, root)}` };
}

/** The file that it was installed from, or its version. */
function packed(path: string, modules: string): string {
  const lock = join(modules, ".package-lock.json");
  if (!existsSync(lock)) return VERSION;
  const { packages = {} } = JSON.parse(readFileSync(lock, "utf8"));
  const { resolved } = packages[`node_modules/${NAME}`] ?? {};
  if (typeof resolved !== "string" || !resolved.startsWith("file:")) return VERSION;
  const file = resolve(dirname(modules), resolved.slice("file:".length));
  return existsSync(file) ? `file:${relative(path, file)}` : VERSION;
}
