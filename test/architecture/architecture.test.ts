import { dirname, join, relative } from "node:path";
import test from "ava";
import { boardModules, boardSources } from "./board.js";
import * as rules from "./rules.js";
import { files, offences, read } from "./tree.js";

const src = files("src", /\.ts$/);
const hosts = [...files("extras", /\.ts$/), ...files("hosts", /\.ts$/)];
const tools = files("tools", /\.ts$/);
const report = files("report", /\.ts$/);
const all = [
  ...src,
  ...report,
  ...hosts,
  ...tools,
  ...files("examples", /\.ts$/),
  ...files("test", /\.ts$/),
  ...files("bench", /\.ts$/),
];

const imported = (text: string): string[] =>
  Array.from(text.matchAll(/(?:\bfrom |\bimport\(?)\s*"([^"]+)"/g), ([, path]) => path!);

// Tables that are built once and only read: a preloaded module keeps them in ROM. File and name.
const TABLES = [
  ["src/wire/crypto/crc32.ts", "TABLE"],
  ["src/wire/telemetry.ts", "BEFORE"],
] as const;

test("what a board runs has no regular expression and asks the engine for no letter's case: each brings tables into the image", async (t) => {
  const [sources, modules] = [await boardSources(), await boardModules()];
  t.true(sources.length > 150);
  t.deepEqual(offences(sources, rules.unicodeTables), []);
  t.true(modules.length > 10);
  t.deepEqual(offences(modules, rules.unicodeTables), []);
});

test("constants of a board's module stay constants: a variable costs it RAM", async (t) => {
  for (const { path, text } of await boardModules()) t.notRegex(text, /^var /m, path);
});

test("a board's image contains no invariant, neither the checks nor their texts", async (t) => {
  const checks = src.flatMap(({ text }) => [...text.matchAll(/\binvariant\(\s*"([^"]+)"/g)]);
  t.true(checks.length > 8);
  for (const { path, text } of await boardModules())
    for (const what of ["moteInvariant", ...checks.map(([, said]) => said!)])
      t.false(text.includes(what), `${path}: ${what}`);
});

test("only request encoders and the store reveal a secret", (t) => {
  const sources = [...src, ...hosts].filter(({ text }) => /\.reveal\b/.test(text));
  t.deepEqual(sources.map(({ path }) => path).sort(), [
    "src/agent/provisioning/refusal-backoff.ts",
    "src/agent/provisioning/token-store.ts",
    "src/http/request.ts",
    "src/wire/paths.ts",
    "src/wire/provision.ts",
  ]);
});

test("no Map or Set of src lives at module level", (t) => {
  t.deepEqual(offences(src, rules.moduleCollections), []);
});

test("no typed array of src lives at module level, tables that are only read aside", (t) => {
  const others = src.filter(({ path }) => !TABLES.some(([table]) => table === path));
  t.deepEqual(offences(others, rules.moduleBuffers), []);
  for (const [path, name] of TABLES) {
    const text = read(path);
    t.regex(text, new RegExp(`^const ${name} = `, "m"), path);
    t.deepEqual(rules.changes(text, name), [], path);
  }
});

test("a function of a module that a board runs is an arrow function, which has no prototype", async (t) => {
  t.deepEqual(offences(await boardSources(), rules.declaredFunctions), []);
});

test("no class of src has a static that holds a value", (t) => {
  t.deepEqual(offences(src, rules.classStatics), []);
});

test("no method name of src is computed", (t) => {
  t.deepEqual(offences(src, rules.computedMethods), []);
});

test("src and the local platform's core take time and chance from outside", (t) => {
  t.deepEqual(offences([...src, ...files("tools/platform/core", /\.ts$/)], rules.ambientTime), []);
});

test("report imports only its own files, and nothing on a device imports it", (t) => {
  t.true(report.length > 5);
  t.deepEqual(
    offences(report, (text) => imported(text).filter((path) => !/^\.\/[\w-]+\.js$/.test(path))),
    [],
  );
  t.deepEqual(
    offences([...src, ...hosts], (text) => imported(text).filter((path) => /\.\.\/report\//.test(path))),
    [],
  );
});

test("the lock files name no address that a package was taken from", (t) => {
  for (const [path, own] of [
    ["package-lock.json", ["tools"]],
    ["test/xs/package-lock.json", []],
  ] as const) {
    const lock = read(path);
    const taken = Array.from(lock.matchAll(/"resolved": "([^"]*)"/g), ([, from]) => from);
    t.deepEqual(taken, own, path);
    t.deepEqual(rules.registries(lock), [], path);
  }
});

test("no file names a package registry", (t) => {
  const texts = files(".", /\.(?:ts|js|mjs|json|md|css|html|csv|sh)$|^\.npmrc$|^run$/);
  t.true(texts.length > all.length);
  t.deepEqual(offences(texts, rules.registries), []);
});

test("the agent has no runtime dependency; what the tools need is theirs", (t) => {
  const read_ = (path: string) =>
    JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>;
  const { dependencies, optionalDependencies, peerDependencies, name } = read_("package.json");
  t.deepEqual(
    [name as unknown, dependencies, optionalDependencies, peerDependencies],
    ["mote-agent", undefined, undefined, undefined],
  );
  const tools = read_("tools/package.json");
  t.is(tools.optionalDependencies, undefined);
  t.deepEqual(tools.bin, { "mote-cli": "bin/mote.js", mote: "bin/mote.js" });
  t.false("mote-agent" in (tools.dependencies ?? {}));
  t.false("@agoric/xsnap" in (read_("package.json").devDependencies ?? {}));
  for (const key of ["version", "license", "engines"])
    t.deepEqual(tools[key], read_("package.json")[key], key);
});

test("behind npx the command is mote-cli: mote is another project's package", (t) => {
  const texts = files(".", /\.(?:ts|mjs|js|json|md|txt|html)$|^run$/);
  const wrong = texts.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\bnpx (?:-\S+ )*mote(?!-cli\b)[^\n]{0,20}/g), ([found]) => `${path}: ${found}`),
  );
  t.deepEqual(wrong, []);
});

/** Folders of src/agent in the order of their imports: each one imports only those before it. */
const JOBS = ["time", "queue", "telemetry", "attributes", "rpc", "firmware", "lifecycle", "provisioning"];
/** What a job uses of src/agent beside the folders. */
const SHARED = ["rules.ts"];

test("jobs of the agent import each other one way, types too", (t) => {
  const jobs = src.filter(({ path }) => /^src\/agent\/\w+\//.test(path));
  const folderOf = (path: string) => relative("src/agent", path).split("/")[0]!;
  t.deepEqual([...new Set(jobs.map(({ path }) => folderOf(path)))].sort(), [...JOBS].sort());
  const wrong = jobs.flatMap(({ path, text }) =>
    imported(text)
      .map((name) => folderOf(join(dirname(path), name).replace(/\.js$/, ".ts")))
      .filter((to) => to !== ".." && !SHARED.includes(to))
      .filter((to) => !JOBS.includes(to) || JOBS.indexOf(to) > JOBS.indexOf(folderOf(path)))
      .map((to) => `${path} imports ${to}`),
  );
  t.deepEqual(wrong, []);
});

test("no file is part of a circle of imports, types too", (t) => {
  const texts = [...src, ...hosts, ...tools, ...report, ...files("examples", /\.ts$/)];
  const nextOf = new Map(
    texts.map(({ path, text }) => {
      const relatives = imported(text).filter((name) => name.startsWith("."));
      return [path, relatives.map((name) => join(dirname(path), name).replace(/\.js$/, ".ts"))];
    }),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(" > "));
    if (way.includes(path) || done.has(path)) return;
    for (const next of nextOf.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const { path } of texts) visit(path, []);
  t.true(done.size > 500);
  t.deepEqual(circles, []);
});

// Each rule accepts the good samples and finds the bad ones.

/** One rule, what it lets pass and what it finds. */
const samples: [rule: (source: string) => string[], good: string[], bad: string[]][] = [
  [
    rules.unicodeTables,
    ["const half = a / b / c;", 'const text = "/a/.toLowerCase()"; // /b/', "const match = lowerCase(a);"],
    [
      "const R = /a/;",
      "const f = (x) => /a/.test(x);",
      "function f() { return x.split(/,/); }",
      "class A { r = /a/; }",
      'const r = new RegExp("a");',
      "const a = b.toLowerCase();",
      "const a = b?.toUpperCase();",
      "const at = a.search(b);",
    ],
  ],
  [
    rules.moduleCollections,
    ["class A { readonly #m = new Map(); }", "function f() { return new Set(); }"],
    ["const M = new Map();", "export const s = new Set([1]);", "const w = { w: new WeakMap() };"],
  ],
  [
    rules.moduleBuffers,
    ["const NONE = new Uint8Array(0);", "class A { b = new Uint8Array(9); }", "const T = makeTable();"],
    ["const b = new Uint8Array(64);", "const T = new Int32Array([1, 2]);", "let v = new DataView(b);"],
  ],
  [
    (source) => rules.changes(source, "T"),
    [
      "T[0] = 1; const f = () => T[0] === T[1];",
      "const f = () => { a = T[i]; b[i] = T[i] ^ c; o.T[0] = 1; };",
    ],
    [
      "const f = () => (T[0] = 1);",
      "const f = () => T[i[0]]++;",
      "function f() { T[0] ^= 1; }",
      "() => T.fill(0)",
    ],
  ],
  [
    rules.declaredFunctions,
    [
      "const f = (x: number): number => x;",
      "async function f() {}",
      "function* f() {}",
      "class A { function = 1; f() { function g() {} } }",
    ],
    ["function f() {}", "const a = 1;\nexport function f<T>(x: T): T { return x; }"],
  ],
  [
    rules.classStatics,
    ["class A { static make(): A { return new A(); } }", "x.static = 1;"],
    [
      "class A { static count = 0; }",
      "class A { static readonly all: string[] = []; }",
      "class A { static #m: A; }",
    ],
  ],
  [
    rules.computedMethods,
    ["const o = { [key]: 1 };", "const [a] = f(); g(list[0]); table[i](x);", "class A { [key] = 1; }"],
    ["class A { [name]() {} }", `const o = { a: 1, [\`on\${b}\`](c) {} };`, "class A { get [name]() {} }"],
  ],
  [
    rules.ambientTime,
    ["host.clock.now(); Math.floor(1); new Date(ms); date.now();"],
    ["Date.now()", "Math.random()", "new Date()"],
  ],
  [
    rules.registries,
    ["https://example.com/docs", "a registry of names", '"resolved": false'],
    [
      `https://${["registry", "example", "org"].join(".")}/x`,
      ["www", "npmjs", "com"].join("."),
      `https://example.com/x${"/-/"}x-1.0.0.tgz`,
    ],
  ],
];

const NAMES = Object.entries(rules);

for (const [rule, good, bad] of samples) {
  const [name] = NAMES.find(([, one]) => one === rule) ?? ["changes"];
  test(`${name} accepts the good samples and finds each bad one`, (t) => {
    for (const source of good) t.deepEqual(rule(source), [], source);
    for (const source of bad) t.is(rule(source).length, 1, source);
  });
}
