// node scripts/pack.mjs [FOLDER]: both packages as they would be published, mote-agent and mote-cli; prints where they are.
// The command brings the agent along as it stands here: npm links no root package into its
// workspaces, and what a registry has under that name could be another version.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licensesOf } from "./licenses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [first] = process.argv.slice(2);

if (first === "--refuse") {
  console.error("mote-cli is packed with the agent in it: node scripts/pack.mjs");
  process.exit(1);
}

const out = resolve(first ?? join(root, "build", "packages"));
/**
 * What no user of the command needs. The types of the board's modules are for those whose project
 * it builds.
 */
const LEFT_OUT = /\.map$|(?<!\/xs\/mote[\w-]*)\.d\.ts$|\.tsbuildinfo$/;
const SHARED = ["src", "report", "extras", "hosts", "examples", "LICENSE", "CHANGELOG.md"];
const { repository: REPOSITORY } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Packages with a program for each machine: npm installs esbuild in a project. */
const NATIVE = ["esbuild"];
const BUILT = ["src", "report", "extras", "hosts", "tools", "xs"];
/** The pages that a command, a template or an extra refers to, and their pictures. */
const isPage = (path) =>
  statSync(path).isDirectory()
    ? !/node_modules|\.vitepress|diagrams|recordings|api$/.test(path)
    : /\.(?:md|png|svg)$/.test(path) && !/reference.(?:cli|options)\.md$/.test(path);
/** All that a project may include. */
const MANIFESTS = readdirSync(root).filter((name) => /^manifest(?:-[\w-]+)?\.json$/.test(name));

/** Packs a folder into another one; returns the file. */
function npm(folder, into, ...args) {
  const how = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const said = execFileSync("npm", ["pack", "--silent", "--pack-destination", into, ...args], how);
  return join(into, said.trim().split("\n").at(-1));
}

/** Of a package.json what a user of the package needs. */
function describe(text) {
  const {
    scripts: _,
    devDependencies: _1,
    workspaces: _2,
    overrides: _3,
    allowScripts: _4,
    ...described
  } = JSON.parse(text);
  return `${JSON.stringify(described, null, 2)}\n`;
}

/**
 * The tree of mote-agent: what npm packs of this one, without what npm would offer to run at its
 * installation.
 */
function stageAgent(folder) {
  const packed = npm(root, folder);
  execFileSync("tar", ["-xzf", packed, "-C", folder, "--strip-components=1"]);
  rmSync(packed);
  const description = join(folder, "package.json");
  writeFileSync(description, describe(readFileSync(description, "utf8")));
}

/**
 * Puts the packages that the command imports into its files: one package to install instead of
 * ninety. Native ones stay outside.
 */
async function bundlePackages(folder) {
  const dist = join(folder, "dist");
  const imports = /(?:from |import\()"(?!\.|node:)/;
  const entryPoints = readdirSync(join(dist, "tools"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js") && !name.includes("console"))
    .map((name) => join(dist, "tools", name))
    .filter((path) => imports.test(readFileSync(path, "utf8")));
  const own = ({ path, importer }) => (importer.startsWith(dist) ? { path, external: true } : undefined);
  const { metafile } = await build({
    absWorkingDir: root,
    ...{ entryPoints, outbase: dist, outdir: dist, allowOverwrite: true, splitting: true },
    ...{ bundle: true, format: "esm", platform: "node", target: "node20", chunkNames: "packages/[hash]" },
    ...{ external: NATIVE, nodePaths: [join(root, "node_modules")], metafile: true, logLevel: "error" },
    plugins: [{ name: "own", setup: (plugin) => plugin.onResolve({ filter: /^\./ }, own) }],
    // What was written for CommonJS asks for Node's modules by require.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
  });
  writeFileSync(join(dist, "packages", "licenses.txt"), licensesOf(root, Object.keys(metafile.inputs)));
}

/**
 * Every package in the command, in CycloneDX: those in its files, those in its page, and those that
 * npm installs.
 */
function writeBill(folder) {
  const args = ["sbom", "--workspace", "tools", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const bill = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 }));
  const { name, version, description } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  Object.assign(bill.metadata.component, { name, version, description, purl: `pkg:npm/${name}@${version}` });
  writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
}

/** The tree of mote-cli: the same places as in this one, so that each file finds the others. */
async function stageCommand(folder) {
  const { dependencies: bundled, ...described } = JSON.parse(
    describe(readFileSync(join(root, "tools", "package.json"), "utf8")),
  );
  const peers = {
    peerDependencies: { esbuild: bundled.esbuild },
    peerDependenciesMeta: { esbuild: { optional: true } },
  };
  const description = { ...described, ...peers, repository: { ...REPOSITORY, directory: "tools" } };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
  for (const name of ["bin", "systemd", "README.md"])
    cpSync(join(root, "tools", name), join(folder, name), { recursive: true });
  for (const name of [...SHARED, ...MANIFESTS])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  for (const name of BUILT)
    cpSync(join(root, "dist", name), join(folder, "dist", name), {
      recursive: true,
      filter: (path) => !LEFT_OUT.test(path),
    });
  cpSync(join(root, "docs"), join(folder, "docs"), { recursive: true, filter: isPage });
  await bundlePackages(folder);
  writeBill(folder);
}

mkdirSync(out, { recursive: true });
// The agent's prepack builds all of it: it comes first.
for (const stage of [stageAgent, stageCommand]) {
  const folder = mkdtempSync(join(tmpdir(), "mote-pack-"));
  try {
    await stage(folder);
    console.log(npm(folder, out, "--ignore-scripts"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
