// The core as a board takes it: one module for the manifest to preload, dist/xs/mote.js. DESIGN.md has the figures behind it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, transform } from "esbuild";

/** A private name where it is declared or used; the first part is what must stand before it. */
const PRIVATE = /(^\s*(?:(?:static|async|get|set|\*) *)*|\.)#(?=[A-Za-z])/gm;
/** esbuild makes variables of the bundled modules' constants and classes. */
const VARIABLE = /^var (?=[A-Za-z_$][\w$]* = )/gm;

/**
 * The same program without comments, in less ROM. A private name costs each method that uses it a slot of 16 bytes, and each object one: they become
 * plain names, as the compiler has seen to it that nobody else uses them. Constants stay constants, so that they can lie in ROM.
 */
export async function forBoard(text) {
  const { code } = await transform(text, { minifyWhitespace: true });
  const bare = (await transform(code)).code;
  const lean = bare.replace(PRIVATE, "$1_").replace(VARIABLE, "const ");
  if (/#[A-Za-z]/.test(lean))
    throw new Error(`a private name is left: ${/.*#[A-Za-z].*/.exec(lean)[0].trim()}`);
  const logOverride = { "assign-to-constant": "error", "duplicate-class-member": "error" };
  await transform(lean, { format: "esm", logLevel: "silent", logOverride });
  return lean;
}

/** Writes dist/xs: the module, and its types for an application's own TypeScript. */
export async function buildBoard(root, out) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/index.ts"],
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
  });
  await mkdir(out, { recursive: true });
  await writeFile(join(out, "mote.js"), await forBoard(outputFiles[0].text));
  await writeFile(join(out, "mote.d.ts"), 'export * from "../../src/index.js";\n');
}
