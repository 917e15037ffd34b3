import test from "ava";
import { read } from "../architecture/tree.js";
import { all } from "./all.js";
import { filesCases } from "./cases/files.js";
import { pollsCases } from "./cases/polls.js";
import { powerLossTests } from "./declare.js";
import { safeguards } from "./safeguards.js";

test("each safeguard that can be taken out stands once in its file", (t) => {
  for (const [group, list] of Object.entries(safeguards)) {
    t.true(group in all, group);
    for (const { what, file, ...edit } of list)
      for (const { from } of [edit, ...(edit.and ? [edit.and] : [])])
        t.is(read(file).split(from).length, 2, `${what}: ${from}`);
  }
});

test("each case has a name of its own", (t) => {
  const names = Object.values(all).flatMap((cases) => cases.map(({ name }) => name));
  t.is(new Set(names).size, names.length);
});

powerLossTests("what the Node host kept on disk is there", filesCases, 300);

powerLossTests("no poll asks for more than was found to pass", pollsCases, 60);
