// The build itself: src, hosts, tools, examples and test file by file, the board's modules, the tour's firmware images, and the console.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { build } from "esbuild";
import { buildModule, MODULES } from "./board.mjs";
import { isSame, stampFile } from "./stamp.mjs";

// These run on XS alone, or in a browser, but for tools/console/model, which needs no page. Of hosts/esp32 only the files that name modules of
// the SDK do; the others have tests here.
const COMPILED_SEPARATELY =
  /^(?:hosts\/(?:xs|simulator)\/|tools\/console\/(?!model\/)|test\/hosts\/simulator\/guest\/|examples\/templates\/)/;
/** What this build makes in dist; the rest is of others: types, builds for the simulator. */
const OURS = /^(?:src|hosts|tools|examples|test|xs)\/.*\.js(?:\.map)?$/;

/** Makes `out` of the sources. `now`: their signatures; `before`: the last stamp. */
export async function compile(root, out, now, before) {
  const { files: modules, inputs, kept } = await buildModules(root, out, now, before);
  const built = [
    ...(await compileFiles(root, out, Object.keys(now))),
    ...(await buildApps(root, out)),
    ...(await buildConsole(root, out)),
    ...modules,
  ];
  // Should this be cut short, the stamp of before is wrong.
  rmSync(stampFile(out), { force: true });
  for (const [path, bytes] of built) write(join(out, path), bytes);
  const outputs = [...built.map(([path]) => path), ...kept];
  // A test whose source is gone must not run on.
  const own = new Set(outputs);
  for (const path of list(out)) if (OURS.test(path) && !own.has(path)) rmSync(join(out, path));
  writeFileSync(stampFile(out), JSON.stringify({ sources: now, modules: inputs, outputs }));
}

const slashes = (path) => path.split(sep).join("/");

/** Files below `dir`. */
const list = (dir) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => slashes(relative(dir, join(entry.parentPath, entry.name))));

/** Whole or not at all. A file that is the same keeps its date: the SDK's make goes by it. */
function write(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, bytes);
  renameSync(`${path}.new`, path);
}

/** By their paths in `out`. */
async function filesOf(out, options) {
  const { outputFiles } = await build({ logLevel: "warning", write: false, ...options });
  return outputFiles.map(({ path, contents }) => [slashes(relative(out, path)), Buffer.from(contents)]);
}

function compileFiles(root, out, sources) {
  const entryPoints = sources.filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".d.ts") && !COMPILED_SEPARATELY.test(path),
  );
  const places = { absWorkingDir: root, outbase: root, outdir: out, entryPoints };
  return filesOf(out, { ...places, format: "esm", platform: "node", target: "es2022", sourcemap: true });
}

/** Those of the board's modules of which a source or a tool changed; the others are `kept`. */
async function buildModules(root, out, now, before) {
  // A new NAME.stub.ts changes what the lean build imports.
  const isGeneral = (path) => /^scripts\/board|^package|\.stub\.ts$/.test(path);
  const general = (sources) => Object.entries(sources).filter(([path]) => isGeneral(path));
  const sameTools = isSame(general(now), general(before.sources));
  const isKept = (path) => now[path] !== undefined && now[path] === before.sources[path];
  const [files, inputs, kept] = [[], {}, []];
  for (const module of MODULES) {
    const [name] = module;
    const outputs = before.outputs.filter((path) => path.startsWith(`xs/${name}.`));
    const isThere = outputs.length > 0 && outputs.every((path) => existsSync(join(out, path)));
    if (sameTools && isThere && before.modules[name]?.every(isKept)) {
      inputs[name] = before.modules[name];
      kept.push(...outputs);
      continue;
    }
    const made = await buildModule(root, module);
    inputs[name] = made.inputs.map((path) => slashes(relative(root, path)));
    for (const [file, text] of Object.entries(made.files)) files.push([`xs/${file}`, Buffer.from(text)]);
  }
  return { files, inputs, kept };
}

/** The same application in two versions, each one bundled ES module. */
async function buildApps(root, out) {
  const how = { bundle: true, format: "esm", platform: "neutral", target: "es2022" };
  const entryPoints = [join(root, "examples/sample/app.ts")];
  const all = ["1.0.0", "2.0.0"].map((version) => {
    const define = { VERSION: JSON.stringify(version) };
    return filesOf(out, { ...how, entryPoints, define, outfile: join(out, `tools/tour/app-${version}.mjs`) });
  });
  return (await Promise.all(all)).flat();
}

/** One script and one style sheet for the browser, beside the server that serves them. */
async function buildConsole(root, out) {
  const page = join(root, "tools/console");
  const outdir = join(out, "tools/platform/console");
  const target = ["chrome120", "firefox121", "safari17"];
  const script = {
    entryPoints: { console: join(page, "main.ts"), flash: join(page, "flash.ts") },
    format: "esm",
    platform: "browser",
    target,
  };
  const style = { entryPoints: { console: join(page, "style.css") } };
  const how = { outdir, bundle: true, minify: true, legalComments: "inline" };
  const built = [await filesOf(out, { ...how, ...script }), await filesOf(out, { ...how, ...style })];
  const pages = ["index.html", "flash.html"].map((name) => [
    `tools/platform/console/${name}`,
    readFileSync(join(page, name)),
  ]);
  return [...built.flat(), ...pages];
}
