import test from "ava";
import { readBudget } from "./budget.js";
import { sizeTable, writtenSizes } from "./sizes.js";

test("CHANGELOG.md tells the sizes that the budget holds", (t) => {
  t.is(writtenSizes(), sizeTable(readBudget()["7"] ?? {}), "npm run budget writes both");
});

test("a table of sizes has a line for each module, and takes no other figures", (t) => {
  const table = sizeTable({
    "mote: code": 61440,
    "mote: slots": 12,
    "mote: ROM": 61632,
    "mote-app: code": 1,
  });
  t.deepEqual(table.split("\n").slice(2), [
    "| `mote` | 61,440 | 12 | 61,632 |",
    "| `mote-app` | 1 | 0 | 0 |",
    "",
  ]);
  t.throws(() => sizeTable({ requests: 1 }), { message: /requests/ });
});
