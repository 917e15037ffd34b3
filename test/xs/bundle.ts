import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { root } from "../house/tree.js";

interface Board {
  forBoard(text: string): Promise<string>;
  readonly WITHOUT_PARTS: Plugin;
}

/**
 * One script for XS of a TypeScript text whose imports are relative to the root, made lean as a board's module is. Nothing may be left to import.
 * `define`: expressions that take the place of names. `lean`: with the agent of the lean build.
 */
export async function bundle(
  text: string,
  define: Record<string, string> = {},
  lean = false,
): Promise<string> {
  const board: Board = await import(pathToFileURL(join(root, "scripts/board.mjs")).href);
  const result = await build({
    absWorkingDir: root,
    stdin: { contents: text, resolveDir: root, loader: "ts", sourcefile: "entry.ts" },
    bundle: true,
    write: false,
    format: "iife",
    platform: "neutral",
    target: "es2022",
    define,
    plugins: lean ? [board.WITHOUT_PARTS] : [],
    logLevel: "silent",
  });
  return board.forBoard(result.outputFiles[0]!.text);
}
