// The root manifest, as far as it can be held without the SDK. `npm run esp32 -- --check` builds with it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import test from "ava";
import { build } from "esbuild";
import * as mote from "../../src/index.js";
import * as report from "../../src/report/index.js";
import { imports } from "./rules.js";
import { files, read, root } from "./tree.js";

const manifest: { modules: Record<string, string>; preload: string[] } = JSON.parse(read("manifest.json"));
const board = (name: string): string => pathToFileURL(join(root, name)).href;

test("every module of the root manifest is there and is preloaded, and nothing else", (t) => {
  t.deepEqual([...manifest.preload].sort(), Object.keys(manifest.modules).sort());
  for (const path of Object.values(manifest.modules)) t.true(existsSync(join(root, `${path}.js`)), path);
});

test("the report client's manifest has its module alone", (t) => {
  const { modules, preload, ...others } = JSON.parse(read("manifest-report.json"));
  t.deepEqual([modules, preload, others], [{ "mote/report": "./dist/xs/mote-report" }, ["mote/report"], {}]);
});

test("the root manifest is of no platform, and everything it has was meant", (t) => {
  t.deepEqual(Object.keys(manifest), ["modules", "preload", "creation"]);
  t.false(read("manifest.json").includes("$("));
});

test("the board's modules are all of src that has code, and import nothing", async (t) => {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/index.ts", "src/report/index.ts"],
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
  for (const name of ["mote", "mote-report"]) t.deepEqual(imports(read(`dist/xs/${name}.js`)), []);
});

test("the board's modules have the public names of the core and of the report client", async (t) => {
  t.deepEqual(Object.keys(await import(board("dist/xs/mote.js"))).sort(), Object.keys(mote).sort());
  t.deepEqual(Object.keys(await import(board("dist/xs/mote-report.js"))).sort(), Object.keys(report).sort());
});

test("the board's modules have no private names and no variables of their own, which cost RAM and ROM", (t) => {
  for (const text of [read("dist/xs/mote.js"), read("dist/xs/mote-report.js")]) {
    t.notRegex(text, /#[A-Za-z]/);
    t.notRegex(text, /^var /m);
  }
  // What a private name becomes must not be taken.
  for (const source of files("src", /\.ts$/)) t.notRegex(source.text, /[^\w$"`/\\]_[a-z]\w*/, source.path);
});

test("a regular expression of a board's module is made when it is first used, and lies never in ROM", async (t) => {
  const { forBoard } = await import(board("scripts/board.mjs"));
  const lean = await forBoard(
    "const SPACES = / +$/;\nexport const trim = (s) => SPACES.test(s) ? s.replace(SPACES, '') : s;",
  );
  const { trim } = await import(`data:text/javascript,${encodeURIComponent(lean)}`);
  t.deepEqual([trim("a  "), trim("b "), trim("c")], ["a", "b", "c"]);
  for (const { path, text } of files("dist/xs", /\.js$/)) {
    const expressions = text.match(/^.*[=(:,] \/(?![/*]).*\/[a-z]*[;,).].*$/gm) ?? [];
    t.deepEqual(
      expressions.filter((line) => !line.includes("_ ??= /")),
      [],
      path,
    );
  }
  t.regex(read("dist/xs/mote.js"), /^const \w+ = \(\) => \w+ \?\?= \//m);
});

test("what can't be made lean is refused", async (t) => {
  const { forBoard } = await import(board("scripts/board.mjs"));
  await t.throwsAsync(forBoard("class A { #a = 1; has(o) { return #a in o; } }"), {
    message: /private name is left/,
  });
  await t.throwsAsync(forBoard("var a = 1;\nfunction f() { a = 2; }"));
  await t.throwsAsync(forBoard("class A { #a() {} _a() {} }"));
  await t.throwsAsync(forBoard("const SPACE = / /;\nexport const parts = (s) => s.split(SPACE);"), {
    message: /regular expression/,
  });
});
