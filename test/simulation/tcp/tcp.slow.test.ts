// The promises over real sockets, on the Node host. What a story comes to is asserted, never how long the machine takes.
import test from "ava";
import { TcpStory } from "./tcp-run.js";

const STORIES = 50;

for (let seed = 1; seed <= STORIES; seed++) {
  test(`over real TCP the promises hold through faults and restarts (seed ${seed})`, async (t) => {
    t.deepEqual(await new TcpStory(seed).tell(), []);
  });
}
