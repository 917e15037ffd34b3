import { existsSync } from "node:fs";
import test from "ava";
import { read } from "../architecture/tree.js";
import { all } from "../power-loss/all.js";
import { safeguards as inPowerLoss } from "../power-loss/safeguards.js";
import { editsOf, safeguards } from "./safeguards.js";

test("each safeguard that can be taken out stands once in its file", (t) => {
  for (const one of [...Object.values(safeguards), ...Object.values(inPowerLoss)].flat())
    for (const { from } of editsOf(one)) t.is(read(one.file).split(from).length, 2, `${one.what}: ${from}`);
});

test("each safeguard names a test file or a group of power losses", (t) => {
  for (const { test: file } of Object.values(safeguards).flat()) t.true(existsSync(file), file);
  for (const group of Object.keys(inPowerLoss)) t.true(group in all, group);
});
