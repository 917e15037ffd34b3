// A wake, an RPC, an attribute change, 50 points and an idle hour cost exactly what results.json
// says.
import test from "ava";
import { measureDesk } from "./desk.js";
import { readResults } from "./results.js";

test("daily work takes exactly the packets, bytes and requests of the budget", async (t) => {
  t.deepEqual(await measureDesk(), readResults().desk, "if it is meant: npm run bench -- --quick");
});
