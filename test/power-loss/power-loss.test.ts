import test from "ava";
import { all } from "./all.js";
import { filesCases } from "./cases/files.js";
import { powerLossTests } from "./declare.js";

test("each case has a name of its own", (t) => {
  const names = Object.values(all).flatMap((cases) => cases.map(({ name }) => name));
  t.is(new Set(names).size, names.length);
});

powerLossTests("what the Node host kept on disk is there", filesCases, 300);
