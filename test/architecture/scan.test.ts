import test from "ava";
import { scan } from "./scan.js";

const texts = (source: string, kind: string): string[] =>
  scan(source)
    .filter((token) => token.kind === kind)
    .map((token) => token.text);

/** Whether the number 7 in a source stands in a function. */
const inFunction = (source: string): boolean => scan(source).find(({ text }) => text === "7")!.inFunction;

test("comments are no tokens, and what looks like one in a string is none", (t) => {
  t.deepEqual(
    scan('a // b\n/* c\n*/ "d // e"').map(({ text, line }) => [text, line]),
    [
      ["a", 1],
      ['"d // e"', 3],
    ],
  );
});

test("a slash after a value divides, elsewhere it begins a regular expression", (t) => {
  t.deepEqual(texts("x = a / b / c; y = /d[/]e\\/f/g; z(/h/, i)", "regexp"), ["/d[/]e\\/f/g", "/h/"]);
});

test("templates are read through their values, nested ones too", (t) => {
  t.deepEqual(texts(`\`a\${ b + \`c\${d}e\` }f\` + g`, "word"), ["b", "d", "g"]);
  t.deepEqual(texts(`\`a\${ b + \`c\${d}e\` }f\``, "template"), ["a\x24{", "c\x24{", "e`", "f`"]);
});

test("bodies of functions, methods, accessors and arrow functions count as functions", (t) => {
  for (const source of [
    "function f(): string { return 7; }",
    "function f({ a }: { a: number }): { b: number } { return 7; }",
    "const f = (a) => a + 7;",
    "const f = (a) => ({ b: 7 });",
    "const o = { f() { return 7; } };",
    "const o = { f: () => 7 };",
    "class A { b = 7; }",
    `const f = \`\${(a) => 7}\`;`,
  ]) {
    t.true(inFunction(source), source);
  }
});

test("module level is module level after a function, in tables and in arguments", (t) => {
  for (const source of [
    "const f = (a) => a; const b = 7;",
    "const o = { f: (a) => a, b: 7 };",
    "function f() { return 1; } const b = [7];",
    "const b = make((a) => a, 7);",
    "const o = { p: { q: 7 } } as const;",
    "type F = (a: number) => void; const b = 7;",
  ]) {
    t.false(inFunction(source), source);
  }
});
