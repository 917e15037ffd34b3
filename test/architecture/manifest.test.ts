// The root manifest, as far as it can be held without the SDK. `npm run esp32 -- --check` builds
// with it.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test from "ava";
import { build } from "esbuild";
import * as reportOnChange from "../../extras/report-on-change/index.js";
import * as mote from "../../src/board-module.js";
import { buildBoards } from "../built.js";
import { imports } from "./rules.js";
import { files, read, root } from "./tree.js";

const manifest: { modules: Record<string, string>; preload: string[] } = JSON.parse(read("manifest.json"));
const board = (name: string): string => pathToFileURL(join(root, name)).href;

test.before(() => buildBoards());

test("every module of the root manifest is there and is preloaded, and nothing else", (t) => {
  t.deepEqual([...manifest.preload].sort(), Object.keys(manifest.modules).sort());
  for (const path of Object.values(manifest.modules)) t.true(existsSync(join(root, `${path}.js`)), path);
});

/** Modules that a project adds to the core's, which they import. */
const OPTIONAL = [
  { name: "report-on-change", folder: "extras/report-on-change", imports: ["mote"], names: reportOnChange },
];

test("the manifest of each optional module has that module alone", (t) => {
  for (const { name, folder } of OPTIONAL) {
    const { modules, preload, ...others } = JSON.parse(read(`${folder}/manifest.json`));
    t.deepEqual(modules, { [`mote/${name}`]: `../../dist/xs/mote-${name}` });
    t.deepEqual([preload, others], [[`mote/${name}`], {}]);
  }
});

test("each extra has one manifest, with the same modules on a board and in the simulator", (t) => {
  for (const folder of ["extras", "hosts"])
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }))
      t.notRegex(path, /manifest-[^/]*\.json$/);
  for (const extra of readdirSync(join(root, "extras"))) {
    const { platforms } = JSON.parse(read(`extras/${extra}/manifest.json`));
    if (!platforms) continue;
    const names = (platform: string) => Object.keys(platforms[platform].modules);
    t.deepEqual(names("esp32"), names("..."), extra);
  }
});

test("a machine's manifest has no extra and no application: the project chooses them", (t) => {
  for (const host of ["esp32", "simulator"]) {
    const text = read(`hosts/${host}/manifest.json`);
    t.notRegex(text, /extras\//, host);
    t.notRegex(text, /mote-app/, host);
  }
});

test("the sample's image has no diagnostics", (t) => {
  t.notRegex(read("examples/sample/manifest.json"), /diagnostics/);
  t.notRegex(read("dist/xs/mote-app.js"), /diagnostics/i);
  t.notRegex(read("dist/xs/mote-esp32.js"), /mote\.health|mote\.log/);
});

test("the board's modules are all of src that has code, and import nothing but the core", async (t) => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/board-module.ts", ...OPTIONAL.map(({ folder }) => `${folder}/index.ts`)],
    outdir: "dist",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    logLevel: "silent",
  });
  // A file of types alone leaves nothing behind.
  const code = files("src", /\.ts$/).filter(({ text }) =>
    /^(?:export )?(?:class|const|let|(?:async )?function)\b/m.test(text),
  );
  const left = code.filter(({ path }) => metafile.inputs[path] === undefined);
  t.true(code.length > 50);
  t.deepEqual(
    left.map(({ path }) => path),
    [],
  );
  t.deepEqual(imports(read("dist/xs/mote.js")), []);
  for (const one of OPTIONAL) t.deepEqual(imports(read(`dist/xs/mote-${one.name}.js`)), one.imports);
});

test("the board's modules have their public names, and what they import from the core is there", async (t) => {
  t.deepEqual(Object.keys(await import(board("dist/xs/mote.js"))).sort(), Object.keys(mote).sort());
  for (const { name, names } of OPTIONAL) {
    const text = read(`dist/xs/mote-${name}.js`);
    const onNode = text.replace('"mote"', JSON.stringify(board("dist/xs/mote.js")));
    const module = await import(`data:text/javascript,${encodeURIComponent(onNode)}`);
    t.deepEqual(Object.keys(module).sort(), Object.keys(names).sort());
  }
});
