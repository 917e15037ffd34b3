// Compiles src, hosts and test to dist, file by file; types are checked elsewhere (npm run check:types).
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildBoard } from "./board.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(root, "dist");
// These run on XS alone, or in a browser. Of hosts/esp32 only the files that name modules of the SDK do; the others have tests here.
const elsewhere = ["hosts/xs", "hosts/simulator", "hosts/console", "test/simulator/guest"].map((path) =>
  join(root, path),
);

const list = (dir) =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true })
        .map((name) => join(dir, name))
        .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts") && statSync(path).isFile())
        .filter((path) => !elsewhere.some((other) => path.startsWith(other)))
    : [];

const entryPoints = ["src", "hosts", "test"].flatMap((dir) => list(join(root, dir)));

// A test whose source is gone must not run on: drop what no longer has one.
if (existsSync(out)) {
  const sources = new Set(entryPoints.map((path) => relative(root, path).replace(/\.ts$/, ".js")));
  for (const name of readdirSync(out, { recursive: true })) {
    if (name.endsWith(".test.js") && !sources.has(name)) rmSync(join(out, name));
  }
}

await build({
  absWorkingDir: root,
  entryPoints,
  outbase: root,
  outdir: out,
  format: "esm",
  platform: "node",
  target: "es2022",
  sourcemap: true,
  logLevel: "warning",
});

await buildBoard(root, join(out, "xs"));

// The desk demo's firmware images: the same application in two versions, each one bundled ES module.
const app = join(root, "hosts/app/app.ts");
if (existsSync(app)) {
  for (const version of ["1.0.0", "2.0.0"]) {
    await build({
      absWorkingDir: root,
      entryPoints: [app],
      outfile: join(out, `hosts/desk/app-${version}.mjs`),
      bundle: true,
      format: "esm",
      platform: "neutral",
      target: "es2022",
      define: { VERSION: JSON.stringify(version) },
      logLevel: "warning",
    });
  }
}

// The console: one script and one style sheet for the browser, beside the server that serves them.
const page = join(root, "hosts/console");
if (existsSync(page)) {
  const pageOut = join(out, "hosts/platform/console");
  await build({
    absWorkingDir: root,
    entryPoints: { console: join(page, "main.ts") },
    outdir: pageOut,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["chrome120", "firefox121", "safari17"],
    legalComments: "inline",
    logLevel: "warning",
  });
  await build({
    absWorkingDir: root,
    entryPoints: { console: join(page, "style.css") },
    outdir: pageOut,
    bundle: true,
    minify: true,
    logLevel: "warning",
  });
  copyFileSync(join(page, "index.html"), join(pageOut, "index.html"));
}
