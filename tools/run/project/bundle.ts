// Bundles a program of one's own into a firmware image for Node: one ES module.
import { existsSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import { UsageError } from "../../cli/usage.js";
import { builtFile } from "../../project.js";
import { type Project, readProject } from "./manifest.js";

/** A program to run, from the path that the user gave. */
export interface Source {
  /** Of the project, or of the program's file. */
  readonly folder: string;
  /** `main`, or the file's name without its extension. */
  readonly name: string;
  readonly file: string;
  /** It has a manifest.json: a project of `mote new` for boards. */
  readonly isBoards: boolean;
}

/** The program's file in a project's folder. */
export const mainIn = (folder: string): string | undefined =>
  ["main.ts", "main.js", "main.mjs"].map((name) => join(folder, name)).find(existsSync);

export interface Bundle {
  readonly bytes: Uint8Array;
  /** The files that it was made of. */
  readonly inputs: readonly string[];
  /** Of the manifest; empty for a program without one. */
  readonly config: Project["config"];
}

const PROGRAM = /\.[cm]?[jt]s$/;
export const isTypeScript = (path: string): boolean => /\.[cm]?ts$/.test(path);

/** Throws UsageError if there is no program. */
export function sourceAt(path: string): Source {
  const place = resolve(path);
  if (!existsSync(place)) throw new UsageError(`${path} does not exist (create a project: mote new ${path})`);
  if (statSync(place).isFile()) {
    if (!PROGRAM.test(place)) throw new UsageError(`${path} is not a program: expected .ts, .js or .mjs`);
    return { folder: dirname(place), name: basename(place, extname(place)), file: place, isBoards: false };
  }
  const file = mainIn(place);
  if (file === undefined) throw new UsageError(`${path} has no main.ts (create a project: mote new)`);
  return { folder: place, name: "main", file, isBoards: existsSync(join(place, "manifest.json")) };
}

/**
 * Rejects with UsageError, which lists what esbuild found wrong. `isMapped`: the image names the
 * lines of its sources in stacks.
 */
export async function bundle(source: Source, { isMapped = false } = {}): Promise<Bundle> {
  const project = source.isBoards ? readProject(source.folder) : undefined;
  const { build, formatMessages } = await import("esbuild").catch(() => {
    throw new UsageError(
      "esbuild is missing: npm install it in the project, or with -g beside a global mote-cli",
    );
  });
  const absolute = project ? entryOf(source, project) : undefined;
  try {
    const { outputFiles, metafile } = await build({
      absWorkingDir: source.folder,
      ...(absolute === undefined
        ? { entryPoints: [source.file] }
        : { stdin: { contents: absolute, resolveDir: source.folder, sourcefile: "manifest.json" } }),
      ...{ bundle: true, write: false, metafile: true, logLevel: "silent", outfile: "image.mjs" },
      ...(isMapped && { sourcemap: "inline" as const, sourceRoot: `${pathToFileURL(source.folder).href}/` }),
      ...{
        sourcesContent: false,
        format: "esm",
        platform: "node",
        target: "node20",
        mainFields: ["module", "main"],
      },
      // For a package in CommonJS, and for the SDK's way to print a line.
      banner: {
        js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url); const trace = (text) => process.stdout.write(String(text));',
      },
      plugins: [modules(source, project)],
    });
    const inputs = Object.keys(metafile.inputs).map((path) => join(source.folder, path));
    const own = inputs.filter((path) => existsSync(path));
    return {
      bytes: outputFiles[0]!.contents,
      inputs: [...own, ...(project?.files ?? [])],
      config: project?.config ?? {},
    };
  } catch (error) {
    const { errors } = error as { errors?: Parameters<typeof formatMessages>[0] };
    if (!errors) throw error;
    const texts = await formatMessages(errors, { kind: "error" });
    throw new UsageError(`the program cannot be built\n\n${texts.join("").trimEnd()}`);
  }
}

/** The image of a board's project: its manifest is the configuration, its main the application. */
function entryOf({ file, folder }: Source, { config }: Project): string {
  const { title = "", version = "1.0.0", ...rest } = (config.firmware ?? {}) as Record<string, unknown>;
  const firmware = { ...rest, title: title || basename(folder), version };
  return `import main from ${JSON.stringify(file)};
import { firmwareOf, setUp } from "mote/board";
export const firmware = firmwareOf(${JSON.stringify(firmware)});
export default (agent, host) => setUp(main, agent, host);
`;
}

const own = (name: string): string => builtFile(`hosts/node/project/${name}.js`);

const REPORTS = "mote/report-on-change";
/** Mote's modules, for programs of both kinds. */
const MOTE: Readonly<Record<string, string>> = {
  mote: builtFile("src/index.js"),
  "mote-agent": builtFile("src/index.js"),
  [REPORTS]: builtFile("extras/report-on-change/index.js"),
  "mote-agent/report-on-change": builtFile("extras/report-on-change/index.js"),
  "mote/simulated": own("simulated"),
};
/** Modules of a board, and their stand-ins. */
const BOARD: Readonly<Record<string, string>> = {
  "mote/board": own("board"),
  "mote/commission": own("board"),
  "mote/diagnostics": own("board"),
  timer: own("timer"),
  onewire: own("onewire"),
  DS18X20: own("ds18x20"),
  "embedded:io/digital": own("digital"),
  "embedded:io/analog": own("analog"),
  "embedded:sensor/Humidity-Temperature/SHT3x": own("sht3x"),
};
/** Prefixes of the SDK's modules. */
const OF_SDK = /^(?:embedded:|mc\/|pins\/|commodetto\/|piu\/|crypt$|Resource$|timer$|time$)/;

/** Why a program for boards cannot use a module of Node. */
const ofNode = (path: string): string =>
  `a board has no module "${path}": it is a module of Node (use one of the SDK, or give the manifest a module of that name)`;

/**
 * Throws UsageError if a board's project uses a module that is not in `modules`, those of its
 * board's build. The simulator may have it, and Node's as well. Without `modules` only Node's are
 * known to be missing.
 */
export async function refuseMissingModules(source: Source, modules?: ReadonlySet<string>): Promise<void> {
  const { build } = await import("esbuild").catch(() => ({ build: undefined }));
  const { modules: own } = readProject(source.folder, "esp32");
  const result = await build?.({
    ...{ entryPoints: [source.file], absWorkingDir: source.folder, logLevel: "silent", metafile: true },
    ...{ bundle: true, write: false, format: "esm", platform: "node", packages: "external" },
    // The project's own modules are imported by the names that its manifest gives them.
    alias: { ...own },
  }).catch(() => undefined);
  // What cannot be built is for the SDK's own tools to say.
  for (const [file, { imports }] of Object.entries(result?.metafile?.inputs ?? {}))
    for (const { path, external } of imports)
      if (external && (modules ? !modules.has(path) : isOfNode(path)))
        throw new UsageError(`${file}: ${isOfNode(path) ? ofNode(path) : absent(path)}`);
}
const absent = (path: string): string =>
  `a board has no module "${path}": ${FIXES[path] ?? 'the manifest names none for the platform "esp32"'}`;
const INCLUDE = "$(MOTE)/extras/report-on-change/manifest.json";
const FIXES: Readonly<Record<string, string>> = {
  "mote/simulated":
    'use it in a module of the platform "..." only, and give the platform "esp32" a module of the same name that reads the sensor',
  [REPORTS]: `add "${INCLUDE}" to include in the manifest`,
};
/** Other names, such as `http` and `net`, are modules of the SDK too. */
const isOfNode = (path: string): boolean =>
  path.startsWith("node:") || /^(?:fs|fs\/promises|os|path|child_process|https|tls|util|zlib)$/.test(path);

function modules({ folder }: Source, project: Project | undefined): Plugin {
  return {
    name: "mote",
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
        if (path === REPORTS && project && !(path in project.modules) && !project.includes.includes(INCLUDE))
          return { errors: [{ text: absent(path) }] };
        const found = project?.modules[path] ?? MOTE[path] ?? (project && BOARD[path]);
        if (found !== undefined) return { path: found };
        if (!project) return undefined;
        if (path === "mc/config") return { path, namespace: "config" };
        if (isOfNode(path) && importer.startsWith(folder + sep)) return { errors: [{ text: ofNode(path) }] };
        const text = `Node has no module "${path}"; run it in the simulator (mote simulator), or give the manifest a module for the platform "..." that stands for it`;
        return OF_SDK.test(path) ? { errors: [{ text }] } : undefined;
      });
      build.onLoad({ filter: /./, namespace: "config" }, () => ({
        contents: JSON.stringify(project?.config ?? {}),
        loader: "json",
        resolveDir: folder,
      }));
    },
  };
}
