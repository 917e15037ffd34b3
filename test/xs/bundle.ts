import { build } from "esbuild";
import { root } from "../house/tree.js";

/**
 * One script for XS of a TypeScript text whose imports are relative to the root. Nothing may be left to import.
 * `define`: expressions that take the place of names.
 */
export async function bundle(text: string, define: Record<string, string> = {}): Promise<string> {
  const result = await build({
    absWorkingDir: root,
    stdin: { contents: text, resolveDir: root, loader: "ts", sourcefile: "entry.ts" },
    bundle: true,
    write: false,
    format: "iife",
    platform: "neutral",
    target: "es2022",
    define,
    logLevel: "silent",
  });
  return result.outputFiles[0]!.text;
}
