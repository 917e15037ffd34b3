import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "rollup";
import { root } from "../house/tree.js";

interface Board {
  bundle(root: string, entry: string, options: object): Promise<{ code: string }>;
}

const ENTRY = "entry.ts";

/** Built once in a process: it takes seconds. */
const built = new Map<string, Promise<string>>();

/**
 * One script for XS of a TypeScript text whose imports are relative to the root, built as a board's module is. Nothing may be left to import.
 * `define`: expressions that take the place of names. `lean`: with the agent of the lean build.
 */
export function bundle(text: string, define: Record<string, string> = {}, lean = false): Promise<string> {
  const key = JSON.stringify([text, define, lean]);
  const script = built.get(key) ?? build(text, define, lean);
  built.set(key, script);
  return script;
}

async function build(text: string, define: Record<string, string>, lean: boolean): Promise<string> {
  const board: Board = await import(pathToFileURL(join(root, "scripts/board.mjs")).href);
  const entry: Plugin = { name: "entry", load: (id) => (id === join(root, ENTRY) ? text : null) };
  const { code } = await board.bundle(root, ENTRY, { define, lean, format: "iife", plugins: [entry] });
  return code;
}
