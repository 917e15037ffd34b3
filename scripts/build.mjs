// node scripts/build.mjs [tools|boards]: builds dist, all of it or one part.
// tools: the packages' JavaScript, the console and the tour's firmware images. boards: the modules
// that a manifest preloads, each only if its sources changed. Every file is written whole, and only
// if it differs: a running platform never reads half a file, and the SDK's make goes by dates.
// Types are checked elsewhere (npm run check).
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { licensesOf } from "./licenses.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");

// These run only on XS or in a browser; tools/console/model needs no page.
const COMPILED_SEPARATELY =
  /^(?:hosts\/(?:xs|simulator)\/|tools\/console\/(?!model\/)|examples\/templates\/)/;
/** What a build is made with. */
const TOOLS = ["scripts/board.mjs", "scripts/build.mjs", "package-lock.json"];
const FOLDERS = ["src", "report", "extras", "hosts", "tools", "examples"];

const slashes = (path) => path.split(sep).join("/");

/** Files below the folder, by their paths from `from`. */
const list = (folder, from) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !relative(folder, entry.parentPath).startsWith("node_modules"))
    .map((entry) => slashes(relative(from, join(entry.parentPath, entry.name))));

function write(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  mkdirSync(dirname(path), { recursive: true });
  // Two builds at the same time write the same bytes.
  writeFileSync(`${path}.${process.pid}`, bytes);
  renameSync(`${path}.${process.pid}`, path);
}

/** What esbuild makes: paths in `dist` with their bytes. `inputs` gets the paths of the sources. */
async function filesOf(options, inputs = []) {
  const { build } = await import("esbuild");
  const how = { absWorkingDir: root, logLevel: "warning", write: false, metafile: true };
  const { outputFiles, metafile } = await build({ ...how, ...options });
  inputs.push(...Object.keys(metafile.inputs));
  return outputFiles.map(({ path, contents }) => [slashes(relative(out, path)), Buffer.from(contents)]);
}

function compileFiles(sources) {
  const entryPoints = sources.filter((path) => /(?<!\.d)\.ts$/.test(path) && !COMPILED_SEPARATELY.test(path));
  const places = { outbase: root, outdir: out, entryPoints };
  return filesOf({ ...places, format: "esm", platform: "node", target: "es2022", sourcemap: true });
}

/** The same application in two versions, each one bundled ES module. */
async function buildApps() {
  const how = { bundle: true, format: "esm", platform: "neutral", target: "es2022" };
  const entryPoints = [join(root, "examples/sample/app.ts")];
  const all = ["1.0.0", "2.0.0"].map((version) => {
    const define = { VERSION: JSON.stringify(version) };
    return filesOf({ ...how, entryPoints, define, outfile: join(out, `tools/tour/app-${version}.mjs`) });
  });
  return (await Promise.all(all)).flat();
}

/** One script and one style sheet for the browser, beside the server that serves them. */
async function buildConsole() {
  const page = join(root, "tools/console");
  const outdir = join(out, "tools/platform/console");
  const target = ["chrome120", "firefox121", "safari17"];
  const script = {
    entryPoints: { console: join(page, "main.ts") },
    format: "esm",
    platform: "browser",
    target,
  };
  const style = { entryPoints: { console: join(page, "style.css") } };
  const how = { outdir, bundle: true, minify: true, legalComments: "inline" };
  const inputs = [];
  const built = [await filesOf({ ...how, ...script }, inputs), await filesOf({ ...how, ...style }, inputs)];
  const html = ["tools/platform/console/index.html", readFileSync(join(page, "index.html"))];
  const licenses = ["tools/platform/console/licenses.txt", Buffer.from(licensesOf(root, inputs))];
  return [...built.flat(), html, licenses];
}

/** ESP Web Tools for the page of `mote flash --web`, which loads no script from elsewhere. */
function webTools() {
  const place = "node_modules/esp-web-tools/dist/web";
  const files = list(join(root, place), join(root, place)).map((name) => [
    `tools/esp-web-tools/${name}`,
    readFileSync(join(root, place, name)),
  ]);
  return [...files, ["tools/esp-web-tools/licenses.txt", Buffer.from(licensesOf(root, [place]))]];
}

const dateOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
const recordOf = (name) => join(out, ".sources", `${name}.json`);

/**
 * Whether the record of the last build is younger than each source that it lists. A folder's date
 * shows files that are new or gone.
 */
function isFresh(name) {
  const record = recordOf(name);
  if (!existsSync(record)) return false;
  const sources = [...JSON.parse(readFileSync(record, "utf8")), ...TOOLS];
  const paths = new Set(sources.flatMap((path) => [join(root, path), dirname(join(root, path))]));
  paths.delete(root);
  const made = dateOf(record);
  return [...paths].every((path) => dateOf(path) < made);
}

/** Its date is the build's begin: a source may change meanwhile. */
function keepRecord(name, begun, sources) {
  write(recordOf(name), Buffer.from(JSON.stringify(sources)));
  utimesSync(recordOf(name), begun, begun);
}

/** The packages' JavaScript, the console and the tour's firmware images. */
export async function buildTools() {
  if (isFresh("tools") && existsSync(join(out, "tools/cli/cli.js"))) return;
  const begun = new Date();
  const sources = FOLDERS.flatMap((folder) => list(join(root, folder), root));
  const built = (await Promise.all([compileFiles(sources), buildApps(), buildConsole(), webTools()])).flat();
  for (const [path, bytes] of built) write(join(out, path), bytes);
  // A file whose source was deleted must not be published.
  const own = new Set(built.map(([path]) => path));
  for (const folder of FOLDERS)
    for (const path of list(join(out, folder), out))
      if (/\.js(\.map)?$/.test(path) && !own.has(path)) rmSync(join(out, path), { force: true });
  keepRecord("tools", begun, sources);
}

/** The modules that boards and the simulator preload: dist/xs. `names`: only those. */
export async function buildBoards(names) {
  const { buildModule, MODULES } = await import("./board.mjs");
  for (const module of MODULES) {
    const [name] = module;
    if (names && !names.includes(name)) continue;
    if (isFresh(name) && existsSync(join(out, "xs", `${name}.js`))) continue;
    const begun = new Date();
    const { files, inputs } = await buildModule(root, module);
    for (const [file, text] of Object.entries(files)) write(join(out, "xs", file), Buffer.from(text));
    keepRecord(
      name,
      begun,
      inputs.map((path) => slashes(relative(root, path))),
    );
  }
  // A module that is gone must neither be linked nor published.
  const made = new Set(MODULES.map(([name]) => name));
  for (const path of list(join(out, "xs"), join(out, "xs")))
    if (!made.has(path.split(".")[0])) rmSync(join(out, "xs", path), { force: true });
}

export async function buildAll() {
  await buildTools();
  await buildBoards();
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const parts = { tools: buildTools, boards: buildBoards };
  await (parts[process.argv[2]] ?? buildAll)();
}
