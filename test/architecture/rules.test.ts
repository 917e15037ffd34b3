// Each rule accepts the good samples and finds the bad ones.
import test from "ava";
import * as rules from "./rules.js";

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
