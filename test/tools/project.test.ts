import test from "ava";
import { quoted } from "../../tools/cli/output/table.js";
import { findProject } from "../../tools/project.js";
import { scratch } from "./scratch.js";

test("a copy without manifest.json is an error, not a search without end", (t) => {
  t.throws(() => findProject(scratch()), { message: /no manifest\.json .* was copied in part/ });
});

test("quotes names for a shell", (t) => {
  t.deepEqual(["pump-1", "my pump", "it's", "$(x)", ""].map(quoted), [
    ...["pump-1", "'my pump'", `'it'\\''s'`, "'$(x)'", "''"],
  ]);
});
