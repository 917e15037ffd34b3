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

test("a word that is gone from the agent alone is found there, and a stored member keeps its name", (t) => {
  const text = "who is told?\nit is settled";
  t.deepEqual(goneWords(text, "src/agent/agent.ts"), [
    "line 1: told (reported, notified, logged, said, learnt)",
    "line 2: settled (idle, confirmed, finished, with defaults)",
  ]);
  t.is(goneWords(text, "docs/design.md").length, 1);
  t.is(goneWords(text, "tools/x.ts").length, 1);
  t.is(goneWords(text, "test/tools/x.test.ts").length, 1);
  t.is(goneWords(text, "src/agent/lifecycle/wake.ts").length, 1);
  t.deepEqual(goneWords("the NTP era, not an era", "src/x.ts"), ["line 1: era (boot epoch)"]);
});
