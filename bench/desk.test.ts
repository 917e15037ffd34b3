// A wake, an RPC, an attribute change, 50 points and an idle hour cost exactly their budget.
import test from "ava";
import { measureDesk, type Spent } from "./desk.js";

const cost = (packets: number, bytes: number, requests: number): Spent => ({ packets, bytes, requests });

/** Each figure stands in docs/understand/measurements.md as well. */
const BUDGET: Record<string, Spent> = {
  "a wake with an upload, attributes and a look for RPCs": cost(13, 2133, 3),
  "the first wake of a new device": cost(24, 3754, 5),
  "a two-way RPC": cost(4, 1159, 2),
  "a change of a shared attribute": cost(4, 1299, 2),
  "50 points": cost(2, 3802, 1),
  "an idle hour, polls cut at 30 s": cost(2745, 252_180, 305),
  "an idle hour, polls of 5 min": cost(324, 31_452, 36),
  "an idle hour, 2 connections, polls cut at 30 s": cost(1598, 218_182, 288),
};

test("daily work takes exactly the packets, bytes and requests of the budget", async (t) => {
  t.deepEqual(
    await measureDesk(),
    BUDGET,
    "if it is meant, enter the new figures here and in the documentation",
  );
});
