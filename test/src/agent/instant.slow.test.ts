// Whatever a platform answers at once, no job sends more than its budget: every answer, with one,
// two and three connections.
import test from "ava";
import { ANSWERS, KINDS, type Kind, keepsItsPace } from "./instant.js";

for (const connections of [1, 2, 3] as const) {
  for (const kind of [...(Object.keys(KINDS) as Kind[]), "all"] as const) {
    test(`${connections} connection(s), ${kind}: no instant answer makes a job send more than its budget`, async (t) => {
      for (const answer of Object.keys(ANSWERS)) await keepsItsPace(t, connections, kind, answer);
    });
  }
}
