import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "rollup";
import { parseAst } from "rollup/parseAst";
import { root } from "../../architecture/tree.js";

interface Bundled {
  readonly code: string;
  /** Paths of the sources. */
  readonly inputs: readonly string[];
}

interface Board {
  bundle(root: string, entry: string, options: object): Promise<Bundled>;
}

const ENTRY = "entry.ts";

/**
 * Built once per process, and once for all processes until a source changes: a build takes seconds.
 */
const built = new Map<string, Promise<string>>();
const KEPT = join(root, "dist", ".bundles");

/**
 * One script for XS of a TypeScript text whose imports are relative to the root, built as a board's
 * module is. Nothing may be left to import. `define`: expressions that take the place of names.
 */
export function bundle(text: string, define: Record<string, string> = {}): Promise<string> {
  const key = JSON.stringify([text, define]);
  const script = built.get(key) ?? kept(key, () => build(text, define));
  built.set(key, script);
  return script;
}

/** Returns what an earlier process built if none of its sources is younger. */
async function kept(key: string, make: () => Promise<Bundled>): Promise<string> {
  const file = join(KEPT, `${createHash("sha256").update(key).digest("hex")}.json`);
  if (existsSync(file)) {
    const { code, inputs, begun }: Bundled & { begun: number } = JSON.parse(readFileSync(file, "utf8"));
    const dates = [...inputs, join(root, "scripts/board.mjs"), join(root, "package-lock.json")].map(
      (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY,
    );
    if (dates.every((date) => date < begun)) return code;
  }
  const begun = Date.now();
  const made = await make();
  mkdirSync(KEPT, { recursive: true });
  // Another process that reads the file meanwhile finds all of it or nothing.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...made, begun }));
  renameSync(`${file}.${process.pid}`, file);
  return made.code;
}

async function build(text: string, define: Record<string, string>): Promise<Bundled> {
  const board: Board = await import(pathToFileURL(join(root, "scripts/board.mjs")).href);
  const entry: Plugin = { name: "entry", load: (id) => (id === join(root, ENTRY) ? text : null) };
  const { code, inputs } = await board.bundle(root, ENTRY, {
    define,
    format: "iife",
    plugins: [entry],
  });
  return { code, inputs: inputs.filter((path) => path !== join(root, ENTRY)) };
}

/**
 * How many constants, functions and classes a bundle declares: they lie on the stack while it is
 * evaluated.
 */
export function constantsOf(script: string): number {
  let count = 0;
  const [statement] = parseAst(script).body as unknown as Node[];
  const body = find(statement, "FunctionExpression")?.body?.body ?? [];
  for (const { type, declarations } of body)
    if (type === "VariableDeclaration") count += declarations?.length ?? 0;
    else if (type === "FunctionDeclaration" || type === "ClassDeclaration") count++;
  return count;
}

interface Node {
  readonly type: string;
  readonly declarations?: readonly unknown[];
  readonly body?: { readonly body?: readonly Node[] };
  readonly [member: string]: unknown;
}

/** The first node of that type in `node`, outermost first. */
function find(node: unknown, type: string): Node | undefined {
  if (typeof node !== "object" || node === null) return undefined;
  if ((node as Node).type === type) return node as Node;
  for (const member of Object.values(node)) {
    const found = find(member, type);
    if (found) return found;
  }
  return undefined;
}
