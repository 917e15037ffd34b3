import test from "ava";
import { wrongImport } from "./direction.js";
import * as rules from "./rules.js";
import { files, offences, read } from "./tree.js";

const src = files("src", /\.ts$/);
const hosts = files("hosts", /\.ts$/);

// Tables that are built once and only read: a preloaded module keeps them in ROM. File and name.
const TABLES = [
  ["src/wire/crc32.ts", "TABLE"],
  ["src/wire/telemetry.ts", "BEFORE"],
] as const;

test("imports run one way: port, wire, net, agent and report, hosts", (t) => {
  const wrong = [...src, ...hosts].flatMap(({ path, text }) =>
    rules
      .imports(text)
      .flatMap((specifier) => wrongImport(path, specifier) ?? [])
      .map((what) => `${path} ${what}`),
  );
  t.true(src.length > 0 && hosts.length > 0);
  t.deepEqual(wrong, []);
});

test("no file of src or hosts is longer than 250 lines", (t) => {
  const long = [...src, ...hosts].filter(({ text }) => rules.lineCount(text) > 250);
  t.deepEqual(
    long.map(({ path, text }) => `${path}: ${rules.lineCount(text)} lines`),
    [],
  );
});

test("the median file of src is shorter than 100 lines", (t) => {
  t.true(rules.median(src.map(({ text }) => rules.lineCount(text))) < 100);
});

test("the port has 32 members at most", (t) => {
  const count = rules.memberCount(read("src/port.ts"));
  t.true(count > 0 && count <= 32, `${count} members`);
});

test("no regular expression is made inside a function of src", (t) => {
  t.deepEqual(offences(src, rules.regexpsInFunctions), []);
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

test("no class of src has a static that holds a value", (t) => {
  t.deepEqual(offences(src, rules.classStatics), []);
});

test("no method name of src is computed", (t) => {
  t.deepEqual(offences(src, rules.computedMethods), []);
});

test("src takes time, chance and output from the port, and no global that XS lacks", (t) => {
  t.deepEqual(offences(src, rules.absentGlobals), []);
});

test("the lock file names no address that a package was taken from", (t) => {
  const lock = read("package-lock.json");
  t.false(lock.includes('"resolved"'));
  t.deepEqual(rules.registries(lock), []);
});

test("no file names a package registry", (t) => {
  const all = files(".", /\.(?:ts|js|mjs|json|md|css|html|csv|sh)$|^\.npmrc$|^run$/);
  t.true(all.length > src.length + hosts.length);
  t.deepEqual(offences(all, rules.registries), []);
});

test("the XS engine for the tests is an optional dependency, and no dependency of the agent", (t) => {
  const { dependencies, optionalDependencies } = JSON.parse(read("package.json"));
  t.deepEqual(Object.keys(optionalDependencies), ["@agoric/xsnap"]);
  t.false("@agoric/xsnap" in dependencies);
});
