// The core as a board takes it: one module for the manifest to preload, dist/xs/mote.js, and one for each part that not every device needs. DESIGN.md has the figures behind it.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { build, transform } from "esbuild";
import { dissolve } from "./dissolve.mjs";
import { empties } from "./empties.mjs";
import { ends } from "./ends.mjs";
import { fold } from "./fold.mjs";
import { lean } from "./lean.mjs";
import { letters } from "./letters.mjs";
import { settle } from "./settle.mjs";
import { share } from "./share.mjs";

/** A private name where it is declared or used; the first part is what must stand before it. */
const PRIVATE = /(^\s*(?:(?:static|async|get|set|\*) *)*|\.)#(?=[A-Za-z])/gm;
/** esbuild makes variables of the bundled modules' constants and classes. */
const VARIABLE = /^var (?=[A-Za-z_$][\w$]* = )/gm;

/** A regular expression of the module. */
const EXPRESSION = /^const ([A-Z_a-z$][\w$]*) = (\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*);$/gm;

/** A text, as far as esbuild writes it on one line. */
const TEXT = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g;

/**
 * The same program without comments, in less ROM. A private name costs each method that uses it a slot of 16 bytes, and each object one: they become
 * plain names, as the compiler has seen to it that nobody else uses them. Constants stay constants, so that they can lie in ROM.
 */
export async function forBoard(text, passes = PASSES) {
  const { code } = await transform(text, { minifyWhitespace: true });
  const bare = (await transform(code)).code;
  const plain = bare.replace(PRIVATE, "$1_").replace(VARIABLE, "const ");
  if (/#[A-Za-z]/.test(plain))
    throw new Error(`a private name is left: ${/.*#[A-Za-z].*/.exec(plain)[0].trim()}`);
  const inRam = expressionsInRam(plain);
  const logOverride = { "assign-to-constant": "error", "duplicate-class-member": "error" };
  await transform(inRam, { format: "esm", logLevel: "silent", logOverride });
  const rewritten = passes.reduce((written, pass) => pass(written), inRam);
  return (await transform(rewritten, { logOverride })).code;
}

/** Each says the program again in less ROM; the later ones take what the former leave. */
export const PASSES = [lean, fold, dissolve, fold, share, settle, ends, empties, letters];

/**
 * Makes regular expressions when they are first used. One in ROM takes memory at each use that is never given back, and ends the machine if
 * garbage is collected meanwhile (SDK 8.2.3, fxAllocateRegExpData). Throws for a use other than `test`, `exec` and the first argument of `replace`.
 */
function expressionsInRam(text) {
  let changed = text;
  for (const [definition, name, expression] of text.matchAll(EXPRESSION)) {
    const word = `(?<![\\w$.])${name.replaceAll("$", "\\$&")}(?![\\w$])`;
    const use = new RegExp(`${word}(?=\\.(?:test|exec)\\()|(?<=\\.replace\\()${word}(?=, )`, "g");
    changed = changed.replace(definition, () => "").replace(use, () => `${name}()`);
    if (new RegExp(`${word}(?!\\(\\))`).test(changed.replace(TEXT, '""'))) {
      throw new Error(`a regular expression is used in a way that is not known: ${name}`);
    }
    changed = `let ${name}_;\nconst ${name} = () => ${name}_ ??= ${expression};\n${changed}`;
  }
  return changed;
}

/**
 * What the manifests name: each is one module, with all of ours that it imports; the SDK's own stay outside. The report client is one
 * of its own, so that who builds no reports has no ROM to spare for it. Name, entry, and its types if they are not the entry's.
 */
const MODULES = [
  ["mote", "src/index.ts"],
  ["mote-lean", "src/index.ts"],
  ["mote-report", "src/report/index.ts"],
  ["mote-diagnostics", "src/diagnostics/index.ts"],
  ["mote-strategies", "src/strategies/index.ts"],
  ["mote-app", "hosts/app/app.ts", "hosts/app/app.js"],
  ["mote-esp32", "hosts/esp32/board.ts", "hosts/esp32/types.js"],
  ["mote-commission", "hosts/esp32/commission-board.ts", "hosts/esp32/commission-types.js"],
  ["mote-emulated-network", "hosts/esp32/emulator/ethernet.ts"],
  ["mote-simulator", "hosts/simulator/index.ts"],
  ["mote-simulator-board", "hosts/simulator/board.ts", "hosts/esp32/types.js"],
  ["mote-simulator-commission", "hosts/simulator/commission.ts", "hosts/esp32/commission-types.js"],
  ["mote-simulator-main", "hosts/simulator/main.ts"],
  ["mote-simulator-window", "hosts/simulator/window.ts"],
  ["ssl-cert", "hosts/xs/tls/cert.ts"],
  ["ssl-ciphersuites", "hosts/xs/tls/ciphersuites.ts"],
  ["ssl-handshake", "hosts/xs/tls/handshake.ts"],
];

/** Modules that build on the core: it is imported by its name, so that a board has it once. */
const ON_CORE = { diagnostics: "mote/diagnostics", strategies: "mote/strategies" };

/** What a module of its own is called on a board, if `path` (relative to the root) is not of the module that begins at `entry`. */
function apart(path, entry) {
  const folder = /^src\/(\w+)/.exec(path)?.[1];
  const own = /^src\/(\w+)/.exec(entry)?.[1];
  if (folder === undefined || folder === own) return undefined;
  return ON_CORE[folder] ?? (own in ON_CORE ? "mote" : undefined);
}

const namesModules = (root, entry) => ({
  name: "modules of their own",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const name = apart(relative(root, join(resolveDir, path)).replaceAll("\\", "/"), entry);
      return name && { path: name, external: true };
    }),
});

/** The smallest build: the same API, but what has a no-NAME.ts beside its NAME.ts is left out. */
export const WITHOUT_PARTS = {
  name: "without-parts",
  setup: (bundle) =>
    bundle.onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const instead = join(resolveDir, path).replace(/([\w-]+)\.js$/, "no-$1.ts");
      return existsSync(instead) ? { path: instead } : undefined;
    }),
};

/** Writes dist/xs: the modules, and the types of those of src for an application's own TypeScript. */
export async function buildBoard(root, out) {
  await mkdir(out, { recursive: true });
  for (const [name, entry, types = entry.startsWith("src/") && entry.replace(/\.ts$/, ".js")] of MODULES) {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: "esm",
      packages: "external",
      external: ["mote", "mote-simulator"],
      platform: "neutral",
      target: "es2022",
      plugins: [...(name === "mote-lean" ? [WITHOUT_PARTS] : []), namesModules(root, entry)],
      legalComments: "none",
      logLevel: "warning",
    });
    await writeFile(join(out, `${name}.js`), await forBoard(outputFiles[0].text));
    // What imports the SDK has types that its own compiler does not agree with.
    if (!types) continue;
    const names = / as default\b/.test(outputFiles[0].text) ? ["*", "{ default }"] : ["*"];
    const lines = names.map((what) => `export ${what} from "../../${types}";\n`);
    await writeFile(join(out, `${name}.d.ts`), lines.join(""));
  }
}
