// The documentation's tables are those that results.json gives.
import test from "ava";
import { read } from "../test/architecture/tree.js";
import { PAGES, withTables } from "./docs.js";
import { readResults } from "./results.js";

for (const page of PAGES)
  test(`${page} has the tables that bench/results.json gives`, (t) => {
    const text = read(page);
    t.regex(text, /<!-- bench: /);
    t.is(text, withTables(text, readResults()), "npm run bench -- --stored writes them again");
  });
