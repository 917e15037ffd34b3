import { existsSync } from "node:fs";
import test from "ava";
import { transform } from "esbuild";
import { read } from "../architecture/tree.js";
import { mutants, mutate } from "./mutants.js";

/** The first column of a table. */
const ROW = /^\| ([^|]+) \|/gm;

for (const mutant of mutants) {
  test(`mutant: ${mutant.name}: its text stands once in its file, what comes of it compiles, and its tests are there`, async (t) => {
    const source = mutate(mutant, read(mutant.file));
    t.not(source, undefined, `${mutant.file}: ${mutant.find}`);
    await t.notThrowsAsync(transform(source ?? "", { loader: "ts" }));
    t.true(mutant.tests.length > 0);
    for (const file of mutant.tests) t.true(existsSync(new URL(`../${file}`, import.meta.url)), file);
  });
}

test("each promise of README.md has a mutant, and each mutant a promise", (t) => {
  const rows = [...read("README.md").matchAll(ROW)].map(([, what]) => what ?? "");
  const promises = rows.slice(rows.indexOf("promise") + 1, rows.indexOf("page"));
  const isOf = (promise: string) => mutants.some((mutant) => promise.startsWith(mutant.promise));
  t.deepEqual(
    promises.filter((promise) => !isOf(promise)),
    [],
  );
  for (const { name, promise } of mutants)
    t.true(
      promises.some((row) => row.startsWith(promise)),
      name,
    );
});

test("no two mutants have the same name", (t) => {
  t.is(new Set(mutants.map(({ name }) => name)).size, mutants.length);
  t.true(mutants.length >= 30);
});

test("a mutant whose text is not in the file, or twice, is none", (t) => {
  const mutant = { ...mutants[0]!, find: "a", replace: "b" };
  t.is(mutate(mutant, "cad"), "cbd");
  t.is(mutate(mutant, "cod"), undefined);
  t.is(mutate(mutant, "ada"), undefined);
});
