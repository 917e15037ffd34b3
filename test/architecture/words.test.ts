import test from "ava";
import { files, offences, read } from "./tree.js";
import { goneWords } from "./words.js";

const FOLDERS = ["src", "hosts", "tools", "test", "examples", "docs", "scripts"];
const TEXTS = /\.(?:ts|js|mjs|md|c|h)$/;
/** They have the words as their list and their samples. */
const LISTS = /^test\/architecture\/words/;

test("the makers' own words do not come back: the field has its own", (t) => {
  const top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map((path) => ({ path, text: read(path) }));
  const sources = [...top, ...FOLDERS.flatMap((folder) => files(folder, TEXTS))];
  t.deepEqual(
    offences(
      sources.filter(({ path }) => !LISTS.test(path)),
      goneWords,
    ),
    [],
  );
});

test("a word of the list is found in any case, with what stands in its place; parts of others are not", (t) => {
  t.deepEqual(goneWords("one\nthe Stand-in's page, begun anew"), [
    "line 2: Stand-in (local platform; stub)",
    "line 2: anew (again, restarted)",
  ]);
  t.deepEqual(goneWords("a renewal\nstand in a line, flow"), []);
});
