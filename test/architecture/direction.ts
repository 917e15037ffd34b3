// Who may import whom: port <- wire <- events, errors, store <- http <- platform <- agent, report <- diagnostics, strategies <- hosts <- tools, examples <- test.
import { posix } from "node:path";

/** The folders of the tree, the lowest first. */
const FOLDERS: Readonly<Record<string, number>> = {
  src: 0,
  hosts: 1,
  tools: 2,
  examples: 2,
  /** Of dist: what a board gets, for a test of that. */
  xs: 2,
  test: 3,
};

const RANK: Record<string, number> = {
  port: 0,
  wire: 1,
  base: 2,
  http: 3,
  platform: 4,
  agent: 5,
  report: 5,
  diagnostics: 6,
  strategies: 6,
  log: 6,
};
/** What a board, the simulator or a browser runs: nothing of Node. */
const NODE_FREE = /^(?:hosts\/(?!node\/)|examples\/|tools\/console\/)/;
/** The folders of hosts, and which others each may import. */
const MACHINES: Readonly<Record<string, readonly string[]>> = {
  "none.ts": [],
  shared: ["none.ts"],
  node: ["none.ts", "shared"],
  xs: ["shared"],
  esp32: ["shared", "xs"],
  // A project for a board runs in the simulator by the same start and configuration.
  simulator: ["shared", "xs", "esp32"],
};
const RELATIVE = /^\.\.?\/.*\.js$/;

/** The layer of a file of src: its folder, `port`, `top` (index.ts, which may import all), or `base` for every other file beside it. */
function layer(file: string): string {
  const [, folder = "", ...rest] = file.split("/");
  if (rest.length > 0) return folder;
  if (folder === "port.ts") return "port";
  return folder === "index.ts" ? "top" : "base";
}

/** Put the agent together, and know all of it: no job knows them. */
const COMPOSITION = ["src/agent/agent.ts", "src/agent/core.ts", "src/agent/options/options.ts"];
/** What all jobs build on: any file of them may be imported, and they import no job. */
const GROUND = ["options"];
/** Folders of src/agent that more than one file opens. The others are opened by the file of their name. */
export const BY_INDEX: readonly string[] = ["lifecycle", "queue"];

const jobOf = (file: string): string | undefined => /^src\/agent\/(\w+)\//.exec(file)?.[1];
const firstOf = (job: string): string => `src/agent/${job}/${BY_INDEX.includes(job) ? "index" : job}.ts`;

/** A job's folder is entered by its first file. */
function inAgent(file: string, target: string): string | undefined {
  if (COMPOSITION.includes(file)) return undefined;
  if (COMPOSITION.includes(target)) return "a job does not know who puts it together";
  const [from, to] = [jobOf(file), jobOf(target)];
  if (to === undefined || from === to) return undefined;
  if (from === "options") return "this knows no job";
  if (GROUND.includes(to) || target === firstOf(to)) return undefined;
  return `another job is imported by ${firstOf(to)}`;
}

function inSrc(file: string, specifier: string, target: string): string | undefined {
  if (!RELATIVE.test(specifier)) return "src imports only its own files, by ./x.js";
  if (!target.startsWith("src/")) return "src imports nothing outside src";
  const [from, to] = [layer(file), layer(target)];
  if (from === "agent" && to === "agent") return inAgent(file, target);
  if (from === to || from === "top") return undefined;
  const [low, high] = [RANK[to], RANK[from]];
  if (low === undefined || high === undefined)
    return `no layer of this name: ${low === undefined ? to : from}`;
  return low < high ? undefined : `${from} must not import ${to}`;
}

function inHosts(file: string, specifier: string, target: string): string | undefined {
  const [, machine = ""] = file.split("/");
  if (!specifier.startsWith("."))
    return machine === "none.ts" && !specifier.startsWith("node:") ? "nothing but src here" : undefined;
  const [folder, other = ""] = target.split("/");
  if (folder !== "hosts" || machine === other) return undefined;
  const may = MACHINES[machine];
  if (may === undefined) return "no machine of this name";
  return may.includes(other) ? undefined : `hosts/${machine} must not import hosts/${other}`;
}

/** From folder to folder of the tree, and where there is no Node. */
function inTree(file: string, specifier: string, target: string): string | undefined {
  if (specifier.startsWith("node:")) return NODE_FREE.test(file) ? "no Node here" : undefined;
  if (!specifier.startsWith(".")) return undefined;
  const [from = "", to = ""] = [file.split("/")[0], target.split("/")[0]];
  const [low, high] = [FOLDERS[to], FOLDERS[from]];
  if (low === undefined || high === undefined)
    return `no folder of this name: ${low === undefined ? to : from}`;
  return from === to || low < high ? undefined : `${from} must not import ${to}`;
}

/** What is wrong with this import, or undefined. `file` is relative to the root, with slashes. */
export function wrongImport(file: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");
  const wrong =
    (file.startsWith("src/") ? inSrc(file, specifier, target) : inTree(file, specifier, target)) ??
    (file.startsWith("hosts/") ? inHosts(file, specifier, target) : undefined);
  return wrong === undefined ? undefined : `imports ${specifier}: ${wrong}`;
}
