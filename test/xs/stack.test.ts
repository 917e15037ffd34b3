// A board's engine has 640 slots of stack, and ends with its last: no data of a peer may take a slot for each of its members.
import { Bridge } from "./engine/bridge.js";
import { nodeHost } from "./engine/node-host.js";
import { testOnXs } from "./engine/on-xs.js";
import { boardStack } from "./engine/snapshot.js";
import { Engine } from "./engine/worker.js";
import { MEMBERS, READERS } from "./guest/wide.js";

const called = (count: number): string => `Math.max(...Array.from({ length: ${count} }, () => 1)); undefined`;

testOnXs("the engine of these tests has the stack of a board", async (t) => {
  const few = new Engine();
  await t.notThrowsAsync(few.evaluate(called(boardStack() - 100)));
  await few.close();
  const many = new Engine();
  await t.throwsAsync(many.evaluate(called(boardStack())), { message: /overflowed its stack/ });
  await many.close();
});

for (const name of Object.keys(READERS)) {
  testOnXs(`${name} of ${MEMBERS} members is read on a board's stack`, async (t) => {
    const entry = 'import { MEMBERS, READERS } from "./test/xs/guest/wide.ts"; globalThis.readers = READERS;';
    const bridge = await Bridge.start(nodeHost(t), { entry });
    t.teardown(() => bridge.close());
    await t.notThrowsAsync(bridge.run(`void readers[${JSON.stringify(name)}]()`));
  });
}
