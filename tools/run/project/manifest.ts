// What Node needs of a board project's manifest: its configuration and its own modules, as the
// simulator has them. Manifests of Mote and the SDK name modules that Node replaces.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { UsageError } from "../../cli/usage.js";

interface Manifest {
  include?: string | string[];
  modules?: Record<string, string | string[]>;
  config?: Record<string, unknown>;
  platforms?: Record<string, Manifest>;
}

export interface Project {
  readonly config: Readonly<Record<string, unknown>>;
  /** Files by the names that they are imported by. */
  readonly modules: Readonly<Record<string, string>>;
  /** The manifests. */
  readonly files: readonly string[];
  /** Manifests of Mote and the SDK, as the project's name them: `$(MOTE)/...`. */
  readonly includes: readonly string[];
}

/** The simulator's: what is simulated there is simulated on Node. */
const SIMULATOR = "lin";

/** As the SDK has it for a platform. Throws UsageError for a manifest that cannot be read. */
export function readProject(folder: string, platform = SIMULATOR): Project {
  const project = { config: {}, modules: {}, files: [], includes: [] };
  collect(join(folder, "manifest.json"), platform, project);
  return project;
}

/** Says which server a project uses whose manifest names one. */
export const serverLine = (url: string): string =>
  `server: ${url} (baseUrl of manifest.json; for a local platform, set it to "")`;

interface Collected {
  config: Record<string, unknown>;
  modules: Record<string, string>;
  files: string[];
  includes: string[];
}

/** Includes come first, because the manifest overrides them. */
function collect(file: string, platform: string, to: Collected): void {
  if (to.files.includes(file)) return;
  to.files.push(file);
  const manifest = parse(file);
  const { platforms = {} } = manifest;
  for (const part of [manifest, platforms[platform] ?? platforms["..."] ?? {}]) {
    for (const one of [part.include ?? []].flat())
      if (one.includes("$(")) to.includes.push(one);
      else collect(join(dirname(file), one), platform, to);
    for (const [name, paths] of Object.entries(part.modules ?? {}))
      for (const path of [paths].flat())
        if (!path.includes("$(")) addModule(join(dirname(file), path), name, to);
    merge(to.config, part.config ?? {});
  }
}

function parse(file: string): Manifest {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
  }
}

const SOURCE = /\.(?:ts|js|mjs)$/;

/**
 * `*` at the end of a path stands for every file there, and at the end of a name for the file's
 * own.
 */
function addModule(path: string, name: string, to: Collected): void {
  const file = [path, `${path}.ts`, `${path}.js`, `${path}.mjs`].find(
    (one) => extname(one) && existsSync(one),
  );
  // The SDK's tools compile C: a board has it, and Node does not.
  if (!file && existsSync(`${path}.c`)) return;
  const isPattern = path.endsWith("*");
  if (!file && !isPattern) throw new UsageError(`the manifest names a module that does not exist: ${path}`);
  const files = file
    ? [file]
    : sourcesIn(dirname(path)).filter((source) => source.startsWith(path.slice(0, -1)));
  for (const one of files) to.modules[name.replace("*", basename(one, extname(one)))] = one;
}

const sourcesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => SOURCE.test(name) && !name.endsWith(".d.ts"))
        .map((name) => join(folder, name))
    : [];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function merge(into: Record<string, unknown>, from: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(from)) {
    const before = into[name];
    if (isObject(before) && isObject(value)) merge(before, value);
    else into[name] = isObject(value) ? structuredClone(value) : value;
  }
}
