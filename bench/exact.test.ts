// Traffic must not change unseen, nor must the documents' tables lag behind.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { PROJECT } from "../tools/project.js";
import { readResults } from "./results.js";
import { PAGES, withTables } from "./tables.js";
import { measureTraffic } from "./traffic.js";

test("daily work takes exactly the packets, bytes and requests of bench/results.json", async (t) => {
  t.deepEqual(await measureTraffic(), readResults().exact.traffic, "if it is meant: npm run bench -- --keep");
});

test("the documents have the tables of bench/results.json", (t) => {
  for (const page of PAGES) {
    const text = readFileSync(join(PROJECT, page), "utf8");
    t.is(text, withTables(text, readResults()), "npm run bench -- --tables writes them again");
  }
});
