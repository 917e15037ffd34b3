// What a board runs, as sources and as built.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildBoards } from "../built.js";
import { read, root, type Source } from "./tree.js";

/** Not awaited here: files that await before they declare their tests can't share a process. */
const script = () =>
  import(pathToFileURL(join(root, "scripts/board.mjs")).href) as Promise<{
    MODULES: readonly (readonly [name: string, entry: string])[];
  }>;

/** The sources of all modules that boards and the simulator get and of an application's main. */
export async function boardSources(): Promise<Source[]> {
  const { MODULES } = await script();
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...MODULES.map(([, entry]) => entry), "examples/sample/main.js"],
    outdir: "dist",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
    external: ["mote", "mote-simulator"],
    logLevel: "silent",
  });
  return Object.keys(metafile.inputs).map((path) => ({ path, text: read(path) }));
}

/** The modules in dist/xs. */
export async function boardModules(): Promise<Source[]> {
  await buildBoards();
  return readdirSync(join(root, "dist/xs"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => ({ path: `dist/xs/${name}`, text: read(`dist/xs/${name}`) }));
}
