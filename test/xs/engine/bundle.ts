import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "rollup";
import { root } from "../../architecture/tree.js";

interface Board {
  bundle(root: string, entry: string, options: object): Promise<{ code: string }>;
}

interface Stamp {
  signatures(root: string): object;
}

const ENTRY = "entry.ts";

/** Built once in a process, and once for all processes as long as no source changes: it takes seconds. */
const built = new Map<string, Promise<string>>();
const KEPT = join(root, "dist", ".bundles");
const KEPT_MS = 3_600_000;

/**
 * One script for XS of a TypeScript text whose imports are relative to the root, built as a board's module is. Nothing may be left to import.
 * `define`: expressions that take the place of names. `lean`: with the agent of the lean build.
 */
export function bundle(text: string, define: Record<string, string> = {}, lean = false): Promise<string> {
  const key = JSON.stringify([text, define, lean]);
  const script = built.get(key) ?? kept(key, () => build(text, define, lean));
  built.set(key, script);
  return script;
}

/** What another process made of the same sources, or `make` makes. */
async function kept(key: string, make: () => Promise<string>): Promise<string> {
  const stamp: Stamp = await import(pathToFileURL(join(root, "scripts/stamp.mjs")).href);
  const sources = JSON.stringify(stamp.signatures(root));
  const file = join(KEPT, `${createHash("sha256").update(sources).update(key).digest("hex")}.js`);
  try {
    return readFileSync(file, "utf8");
  } catch {
    const code = await make();
    mkdirSync(KEPT, { recursive: true });
    for (const name of readdirSync(KEPT)) forgetOld(join(KEPT, name));
    // Whoever reads it meanwhile finds all of it or nothing.
    writeFileSync(`${file}.${process.pid}`, code);
    renameSync(`${file}.${process.pid}`, file);
    return code;
  }
}

function forgetOld(path: string): void {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (written < Date.now() - KEPT_MS) rmSync(path, { force: true });
}

async function build(text: string, define: Record<string, string>, lean: boolean): Promise<string> {
  const board: Board = await import(pathToFileURL(join(root, "scripts/board.mjs")).href);
  const entry: Plugin = { name: "entry", load: (id) => (id === join(root, ENTRY) ? text : null) };
  const { code } = await board.bundle(root, ENTRY, { define, lean, format: "iife", plugins: [entry] });
  return code;
}
