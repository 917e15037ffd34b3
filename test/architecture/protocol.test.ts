import test from "ava";
import { citations, isTitleOf, numbered, titles, whereIs } from "./protocol.js";
import { files, read } from "./tree.js";

const protocol = read("docs/protocol.md");
/** By its path; that a test is a slow one is no part of where it is. */
const inTree = new Map(
  files("test", /\.test\.ts$/).map(({ path, text }) => [
    path.replace(".slow.test.ts", ".test.ts"),
    { text, known: titles(text) },
  ]),
);

test("each test that docs/protocol.md names exists", (t) => {
  const named = citations(protocol).flatMap(({ names }) => names);
  t.true(named.length > 100);
  const lost = named.filter((name) => {
    const { path, title } = whereIs(name);
    return !path.some((one) => {
      const { text = "", known = [] } = inTree.get(one) ?? {};
      return known.some((other) => isTitleOf(title, other, text));
    });
  });
  t.deepEqual(lost, []);
});

test("each row of docs/protocol.md names a test or says that there is none", (t) => {
  const silent = citations(protocol).filter(({ names, isStated }) => names.length === 0 && !isStated);
  t.deepEqual(
    silent.map(({ row }) => row),
    [],
  );
});

for (const [kind, heading] of [
  ["surprise", "Surprises"],
  ["checklist", "Checklist for a local platform"],
] as const) {
  test(`each ${kind} of docs/protocol.md has a test of its number, and each such test stands there`, (t) => {
    const all = [...inTree.values()].flatMap(({ known }) => known);
    const tested = all.flatMap((title) => new RegExp(`^${kind} (\\d+): `).exec(title)?.[1] ?? []).map(Number);
    const listed = numbered(protocol, heading);
    t.true(listed.length > 5);
    t.deepEqual(
      listed,
      [...new Set(tested)].sort((a, b) => a - b),
    );
  });
}

test("docs/protocol.md points into no other code base", (t) => {
  t.deepEqual(protocol.match(/\b[A-Za-z]+(?:\.java|\.yml)?:\d+(?:-\d+)?\b/g) ?? [], []);
});

test("titles are found in each form, skipped ones and comments are not", (t) => {
  const text = [
    'test("one", run);',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a test's title as it stands in a file
    "test.serial(\n  `two ${x} three`,\n);",
    'test.skip("four", run);',
    '// test("five");',
    'const other = attest("six");',
    'test("a \\"word\\"", run);',
  ].join("\n");
  t.deepEqual(titles(text), ["one", "two \0 three", 'a "word"']);
  const file = "a b, c";
  t.true(isTitleOf("two a b three", "two \0 three", file));
  t.true(isTitleOf("two deployed three", "two \0 three", file));
  t.false(isTitleOf("two d three", "two \0 three", file));
  t.false(isTitleOf("two three", "two \0 three", file));
  t.false(isTitleOf("one more", "one", file));
  t.true(isTitleOf("surprise 1", "surprise 1: something", file));
  t.false(isTitleOf("surprise 1", "surprise 12: something", file));
});

test("rows are read with their citations", (t) => {
  const table =
    "| a | shown by |\n|---|---|\n| x \\| y | rpc: one, two · surprise 3 |\n| z | — |\n| w | |\n\n| a | b |\n|---|---|\n| c | d |";
  t.deepEqual(citations(table), [
    {
      row: "| x \\| y | rpc: one, two · surprise 3 |",
      names: ["rpc: one, two", "surprise 3"],
      isStated: false,
    },
    { row: "| z | — |", names: [], isStated: true },
    { row: "| w | |", names: [], isStated: false },
  ]);
  t.deepEqual(whereIs("src/wire/rpc: a: b"), {
    path: ["test/tools/platform/src/wire/rpc.test.ts", "test/src/wire/rpc.test.ts"],
    title: "a: b",
  });
});
