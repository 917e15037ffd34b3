// What a board gets: one module for the manifest to preload, dist/xs/mote.js, and one for each part
// that not every device needs. `npm run esp32 -- --check` prints their sizes.
import { dirname, join, relative } from "node:path";
import { transform } from "esbuild";
import { rollup } from "rollup";
import { minify } from "terser";
import { shortenPrivateNames } from "./private-names.mjs";

/**
 * Variables and private fields get short names. Functions, classes and other properties keep
 * theirs, and lines stay, because a crash is read by them. Off is what takes XS more code.
 */
const SAME = { passes: 2, booleans: false, conditionals: false, reduce_funcs: false, sequences: false };
/** Checks for tests only (src/invariant.ts): the calls go, and with them the function. */
const COMPRESS = { ...SAME, pure_funcs: ["invariant"] };
const KEEP = { module: true, keep_classnames: true, keep_fnames: true, format: { beautify: true } };

/**
 * A field is assigned by the constructor: one that is defined beside it takes XS a function for
 * each class, and steps for each object.
 */
const TYPESCRIPT = { compilerOptions: { useDefineForClassFields: false } };

/**
 * What the manifests name: each is one module, with all of ours that it imports; the SDK's own stay
 * outside. Name, entry, and its types if they are not the entry's.
 */
export const MODULES = [
  ["mote", "src/board-module.ts", "src/index.js"],
  ["mote-report-on-change", "extras/report-on-change/index.ts"],
  ["mote-app", "examples/sample/app.ts", "examples/sample/app.js"],
  ["mote-esp32", "hosts/esp32/board.ts", "hosts/esp32/types.js"],
  [
    "mote-commission",
    "hosts/esp32/commissioning/commission-board.ts",
    "hosts/esp32/commissioning/commission-types.js",
  ],
  [
    "mote-diagnostics",
    "hosts/esp32/diagnostics/diagnostics-board.ts",
    "hosts/esp32/diagnostics/diagnostics-types.js",
  ],
  ["mote-emulated-network", "hosts/esp32/emulator/ethernet.ts"],
  ["mote-simulator", "hosts/simulator/index.ts"],
  ["mote-simulator-board", "hosts/simulator/board.ts", "hosts/esp32/types.js"],
  [
    "mote-simulator-commission",
    "hosts/simulator/commission.ts",
    "hosts/esp32/commissioning/commission-types.js",
  ],
  [
    "mote-simulator-diagnostics",
    "hosts/simulator/diagnostics.ts",
    "hosts/esp32/diagnostics/diagnostics-types.js",
  ],
  ["mote-simulated", "hosts/simulator/simulated.ts", "hosts/device/simulated-types.js"],
  ["mote-simulator-screen", "hosts/simulator/screen.ts"],
];

/**
 * Extras that are a module of their own, which others import by its name, so that a board has it
 * once.
 */
const EXTRAS = { "report-on-change": "mote/report-on-change" };
const CORE = [join("src", "index.ts"), join("src", "board-module.ts")];
const extraOf = (path) => /^extras[/\\]([\w-]+)/.exec(path)?.[1];

/** The module in which `path` is on a board, if that is not the one which begins with `entry`. */
const otherModule = (path, importer, entry) => {
  const own = extraOf(entry);
  const extra = extraOf(path);
  if (extra in EXTRAS && extra !== own) return EXTRAS[extra];
  const isCore =
    own in EXTRAS ? path.startsWith("src") : CORE.includes(path) && /^(?:hosts|extras)/.test(importer);
  return isCore ? "mote" : undefined;
};

/** Our TypeScript. */
const sources = (root, entry, define, whole) => ({
  name: "sources",
  resolveId(name, importer) {
    if (!importer) return name;
    if (!name.startsWith(".")) return { id: name, external: true };
    const path = join(dirname(importer), name).replace(/\.js$/, ".ts");
    const id = !whole && otherModule(relative(root, path), relative(root, importer), entry);
    return id ? { id, external: true } : path;
  },
  transform: async (text) =>
    (await transform(text, { loader: "ts", target: "es2022", define, tsconfigRaw: TYPESCRIPT })).code,
});

/**
 * `entry` with all that it imports, as a board gets it, and the paths of its sources. `plugins` are
 * asked first; `define`: expressions that take the place of names.
 */
export async function bundle(root, entry, { format = "esm", define = {}, plugins = [] } = {}) {
  // A script imports nothing.
  const all = [...plugins, sources(root, entry, define, format === "iife")];
  const bundled = await rollup({ input: join(root, entry), plugins: all });
  const { output } = await bundled.generate({ format });
  const { code: shorter } = await minify(output[0].code, { compress: COMPRESS, ...KEEP, mangle: false });
  const { code } = await minify(shorter, { compress: false, ...KEEP });
  return { code: shortenPrivateNames(code), inputs: bundled.watchFiles };
}

/**
 * One of MODULES: its files by name, with the types of those of src and extras for an application's
 * own TypeScript, and the paths of its sources.
 */
export async function buildModule(root, [name, entry, types = typesOf(entry)]) {
  const { code, inputs } = await bundle(root, entry);
  const names = / as default\b/.test(code) ? ["*", "{ default }"] : ["*"];
  const lines = names.map((what) => `export ${what} from "../../${types}";\n`);
  return { files: { [`${name}.js`]: code, ...(types && { [`${name}.d.ts`]: lines.join("") }) }, inputs };
}

/** What imports the SDK has types that its own compiler does not agree with. */
const typesOf = (entry) => /^(?:src|extras)\//.test(entry) && entry.replace(/\.ts$/, ".js");
