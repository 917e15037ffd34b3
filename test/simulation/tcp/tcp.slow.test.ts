// The promises over real sockets, on the Node host. What a run comes to is asserted, never how long the machine takes.
import test from "ava";
import { TcpRun } from "./tcp-run.js";

const RUNS = 50;

for (let seed = 1; seed <= RUNS; seed++) {
  test(`over real TCP the promises hold through faults and restarts (seed ${seed})`, async (t) => {
    t.deepEqual(await new TcpRun(seed).execute(), []);
  });
}
