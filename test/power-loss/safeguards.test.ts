import test from "ava";
import { read } from "../architecture/tree.js";
import { all } from "./all.js";
import { safeguards } from "./safeguards.js";

test("each safeguard that can be taken out stands once in its file", (t) => {
  for (const { what, file, edits, group } of safeguards) {
    t.true(group in all, group);
    for (const [from] of edits) t.is(read(file).split(from).length, 2, `${what}: ${from}`);
  }
});

test("each case has a name of its own", (t) => {
  const names = Object.values(all).flatMap((cases) => cases.map(({ name }) => name));
  t.is(new Set(names).size, names.length);
});
