// Each rule of the house is shown one sample that keeps it and one that breaks it: a rule that can't fail is none.
import test from "ava";
import { wrongImport } from "./direction.js";
import * as rules from "./rules.js";

test("imports are found in all their forms", (t) => {
  const source = `
    import a from "./a.js";
    import "./b.js";
    import type { C } from './c.js';
    export * from "./d.js";
    const e = await import("./e.js");
    const f = await import(name);
    const text = 'import x from "./no.js"';
    const option = { from: "./no.js" };
    type G = import("./g.js").G;
  `;
  t.deepEqual(rules.imports(source), [
    "./a.js",
    "./b.js",
    "./c.js",
    "./d.js",
    "./e.js",
    "(computed)",
    "./g.js",
  ]);
});

test("imports that run down the house pass", (t) => {
  for (const [file, specifier] of [
    ["src/wire/text/json.ts", "../paths.js"],
    ["src/http/response.ts", "../port.js"],
    ["src/platform/session.ts", "../http/connection.js"],
    ["src/platform/session.ts", "../events.js"],
    ["src/events.ts", "./wire/text/json.js"],
    ["src/agent/rpc/rpc.ts", "../../platform/session.js"],
    ["src/agent/rpc/rpc.ts", "../time/time.js"],
    ["src/agent/rpc/rpc.ts", "../../errors.js"],
    ["src/agent/rpc/rpc.ts", "../options/rpc.js"],
    ["src/agent/options/rpc.ts", "../../errors.js"],
    ["src/agent/options/options.ts", "../rpc/handlers.js"],
    ["src/agent/core.ts", "./rpc/handlers.js"],
    ["src/report/session.ts", "../wire/report.js"],
    ["src/index.ts", "./agent/agent.js"],
    ["hosts/node/host.ts", "node:fs"],
    ["hosts/node/host.ts", "../../src/port.js"],
    ["hosts/xs/clock.ts", "timer"],
    ["hosts/esp32/board.ts", "../xs/clock.js"],
    ["hosts/node/run/worker.ts", "../../shared/wakes.js"],
    ["hosts/none.ts", "../src/port.js"],
    ["tools/cli/cli.ts", "node:fs"],
    ["tools/cli/cli.ts", "commander"],
    ["tools/cli/commands/run.ts", "../../../hosts/node/host.js"],
    ["tools/console/main.ts", "../../src/wire/crypto/checksum.js"],
    ["examples/sample/app.ts", "../../hosts/shared/application.js"],
    ["test/tools/cli/cli.test.ts", "../../../tools/cli/cli.js"],
  ] as const) {
    t.is(wrongImport(file, specifier), undefined, `${file} imports ${specifier}`);
  }
});

test("imports that run up, across or out of the house are reported", (t) => {
  for (const [file, specifier] of [
    ["src/port.ts", "./wire/json.js"],
    ["src/wire/text/json.ts", "../../http/connection.js"],
    ["src/http/connection.ts", "../platform/session.js"],
    ["src/events.ts", "./http/connection.js"],
    ["src/platform/session.ts", "../report/session.js"],
    ["src/platform/session.ts", "../index.js"],
    ["src/platform/session.ts", "../../hosts/none.js"],
    ["src/platform/session.ts", "../agent/core.js"],
    ["src/agent/rpc/rpc.ts", "../agent.js"],
    ["src/agent/rpc/rpc.ts", "../options/options.js"],
    ["src/agent/rpc/rpc.ts", "../queue/outbox.js"],
    ["src/agent/rpc/rpc.ts", "../queue/queue.js"],
    ["src/agent/options/rpc.ts", "../rpc/rpc.js"],
    ["src/errors.ts", "./agent/rpc/rpc.js"],
    ["src/errors.ts", "./agent/options/rules.js"],
    ["src/platform/session.ts", "node:fs"],
    ["src/platform/session.ts", "fastify"],
    ["src/platform/session.ts", "./events.ts"],
    ["src/platform/session.ts", "(computed)"],
    ["src/elsewhere/x.ts", "../port.js"],
    ["hosts/xs/clock.ts", "node:fs"],
    ["hosts/simulator/main.ts", "../node/host.js"],
    ["hosts/shared/wakes.ts", "../xs/clock.js"],
    ["hosts/shared/wakes.ts", "node:fs"],
    ["hosts/board/main.ts", "../xs/clock.js"],
    ["hosts/node/host.ts", "../esp32/config.js"],
    ["hosts/node/host.ts", "../../tools/cli/usage.js"],
    ["hosts/esp32/start.ts", "../../examples/sample/app.js"],
    ["hosts/none.ts", "fastify"],
    ["tools/cli/cli.ts", "../../examples/sample/app.js"],
    ["tools/cli/cli.ts", "../../test/fakes/host.js"],
    ["tools/console/main.ts", "node:fs"],
    ["examples/sample/app.ts", "node:fs"],
    ["examples/sample/app.ts", "../../tools/cli/usage.js"],
    ["elsewhere/x.ts", "../src/port.js"],
  ] as const) {
    t.not(wrongImport(file, specifier), undefined, `${file} imports ${specifier}`);
  }
});

/** One rule, what it lets pass and what it finds. */
const samples: [rule: (source: string) => string[], good: string[], bad: string[]][] = [
  [
    rules.tablesOfLetters,
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
    rules.absentGlobals,
    ["host.clock.now(); link.console.x; type T = { URL: string }; Math.floor(1); new Date(ms);"],
    [
      "Date.now()",
      "Math.random()",
      "setTimeout(f, 1)",
      "console.log(1)",
      "new URL(x)",
      "new Date()",
      "f(process)",
    ],
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

for (const [rule, good, bad] of samples) {
  test(`${rule.name || "changes"} lets the good samples pass and finds each bad one`, (t) => {
    for (const source of good) t.deepEqual(rule(source), [], source);
    for (const source of bad) t.is(rule(source).length, 1, source);
  });
}
