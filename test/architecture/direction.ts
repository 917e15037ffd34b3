// Who may import whom: port <- wire <- net <- agent, report <- diagnostics, strategies <- hosts.
import { posix } from "node:path";

const RANK: Record<string, number> = {
  port: 0,
  wire: 1,
  net: 2,
  agent: 3,
  report: 3,
  diagnostics: 4,
  strategies: 4,
};
const NODE_FREE = /^hosts\/(?:xs|esp32|simulator|app|commission|x509|two-slots|none\.ts)/;
const RELATIVE = /^\.\.?\/.*\.js$/;

/** The layer of a file of src: its folder, or `port`, or `top` (index.ts, which may name them all). */
function layer(file: string): string {
  const parts = file.split("/");
  if (file === "src/port.ts") return "port";
  return parts.length === 2 ? "top" : parts[1]!;
}

/** Put the agent together, and know all of it: no job knows them. */
const COMPOSITION = ["src/agent/agent.ts", "src/agent/core.ts", "src/agent/options/options.ts"];
/** What all jobs build on: any file of them may be imported, and they import no job. */
const GROUND = ["common", "options"];
/** Folders of src/agent that more than one file opens. The others are opened by the file of their name. */
export const BY_INDEX: readonly string[] = ["lifecycle", "queue", "session"];

const jobOf = (file: string): string | undefined => /^src\/agent\/(\w+)\//.exec(file)?.[1];
const firstOf = (job: string): string => `src/agent/${job}/${BY_INDEX.includes(job) ? "index" : job}.ts`;

/** A job's folder is entered by its first file. */
function inAgent(file: string, target: string): string | undefined {
  if (COMPOSITION.includes(file)) return undefined;
  if (COMPOSITION.includes(target)) return "a job does not know who puts it together";
  const [from, to] = [jobOf(file), jobOf(target)];
  if (to === undefined || from === to) return undefined;
  if (from === "common" || (from === "options" && to !== "common")) return "this knows no job";
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
  if (!NODE_FREE.test(file)) return undefined;
  if (specifier.startsWith("node:")) return "no Node here";
  if (!specifier.startsWith(".")) return file === "hosts/none.ts" ? "nothing but src here" : undefined;
  return target.startsWith("src/") || NODE_FREE.test(target)
    ? undefined
    : "only src and hosts without Node here";
}

/** What is wrong with this import, or undefined. `file` is relative to the root, with slashes. */
export function wrongImport(file: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts");
  const wrong = file.startsWith("src/") ? inSrc(file, specifier, target) : inHosts(file, specifier, target);
  return wrong === undefined ? undefined : `imports ${specifier}: ${wrong}`;
}
