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

function inSrc(file: string, specifier: string, target: string): string | undefined {
  if (!RELATIVE.test(specifier)) return "src imports only its own files, by ./x.js";
  if (!target.startsWith("src/")) return "src imports nothing outside src";
  const [from, to] = [layer(file), layer(target)];
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
