// Whatever a platform answers at once, no job sends more than its budget.
import test from "ava";
import { HOT, KINDS, type Kind, keepsItsPace } from "./instant.js";

for (const kind of [...(Object.keys(KINDS) as Kind[]), "all"] as const) {
  test(`${kind}: no instant answer makes a job send more than its budget`, async (t) => {
    for (const answer of HOT) await keepsItsPace(t, 3, kind, answer);
  });
}
