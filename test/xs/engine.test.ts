// The engine's rig: what a test would not notice by itself. An engine that ends, hangs or does not
// start fails the test that needs it.
import { none } from "../../hosts/none.js";
import { Bridge } from "./engine/bridge.js";
import { nodeHost } from "./engine/node-host.js";
import { testOnXs } from "./engine/on-xs.js";
import { Engine } from "./engine/worker.js";

testOnXs("the meter has all of a script once its value is here", async (t) => {
  const bridge = await Bridge.start(none);
  const before = bridge.compute;
  await bridge.run("for (let i = 0; i < 10000; i++);");
  const steps = bridge.compute - before;
  await bridge.idle();
  t.true(steps > 10_000, `${steps}`);
  t.is(bridge.compute - before, steps);
  await bridge.close();
});

testOnXs("an exception in a callback of the host fails the run", async (t) => {
  const bridge = await Bridge.start(nodeHost(t));
  await bridge.run(
    "new Promise((done) => { host.clock.timer(1, () => { throw new Error('late'); }); host.clock.timer(50, done); })",
  );
  t.is(bridge.failures.length, 1);
  await t.throwsAsync(bridge.close(), { message: /Error: late/ });
});

testOnXs("a rejection that nobody handles fails the run", async (t) => {
  const bridge = await Bridge.start(none);
  await bridge.run("Promise.reject(new Error('dropped')); 1");
  await bridge.idle();
  await t.throwsAsync(bridge.close(), { message: /Error: dropped/ });
});

testOnXs("slots in use grow with what is kept and shrink with what is dropped", async (t) => {
  const engine = new Engine();
  const slots = async (source: string) => {
    await engine.evaluate(source);
    return (await engine.evaluate("gc()")).heap;
  };
  const before = await slots("globalThis.kept = []");
  const held = await slots("for (let i = 0; i < 1000; i++) kept.push({ i })");
  const after = await slots("kept = []");
  await engine.close();
  t.true(held - before >= 2000, `${held - before}`);
  t.true(Math.abs(after - before) < 50, `${after - before}`);
});
