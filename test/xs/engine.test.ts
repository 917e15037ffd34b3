import { type AddressInfo, createServer } from "node:net";

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

testOnXs("an entry that throws does not start", async (t) => {
  await t.throwsAsync(Bridge.start(none, { entry: "throw new Error('at the top');" }), {
    message: /at the top/,
  });
});

testOnXs("an engine that dies rejects a run that waits, at once", async (t) => {
  const bridge = await Bridge.start(nodeHost(t));
  // An engine that waits keeps no process alive.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  const run = bridge.run("new Promise(() => {})");
  await bridge.idle();
  process.kill(bridge.pid, "SIGKILL");
  await t.throwsAsync(run, { message: /the engine ended \(SIGKILL\)/ });
  await bridge.close();
});

testOnXs("promise jobs of one event are done before the next", async (t) => {
  const bridge = await Bridge.start(nodeHost(t));
  const order = await bridge.run(`new Promise((done) => {
    const order = [];
    host.clock.timer(1, () => { order.push("a"); Promise.resolve().then(() => order.push("b")); });
    host.clock.timer(1, () => { order.push("c"); });
    host.clock.timer(20, () => done(order));
  })`);
  t.deepEqual(order, ["a", "b", "c"]);
  await bridge.close();
});

testOnXs("a closed bridge leaves no timer and no socket behind", async (t) => {
  let ended = 0;
  const server = createServer((socket) => socket.on("close", () => ended++).resume()).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const bridge = await Bridge.start(nodeHost(t));
  await bridge.run(
    `new Promise((done) => { host.open("127.0.0.1", ${port}, false, done); host.clock.timer(60000, done); })`,
  );
  await bridge.close();
  await new Promise((resolve) => server.close(resolve));
  t.is(ended, 1);
  await t.throwsAsync(bridge.run("1"), { message: /closed/ });
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

testOnXs("a script that does not end is killed, and what waits behind it is reported", async (t) => {
  const engine = new Engine({ limitSteps: 1_000_000 });
  const first = t.throwsAsync(engine.evaluate("for (;;);"), { message: /more steps than its limit/ });
  const second = t.throwsAsync(engine.evaluate("1"), { message: /more steps than its limit/ });
  await Promise.all([first, second]);
  await t.throwsAsync(engine.evaluate("1"), { message: /more steps than its limit/ });
  await engine.close();
});

testOnXs("an engine that dies rejects its turn with its last output", async (t) => {
  const engine = new Engine({
    output: () => {},
    answer: () => {
      process.kill(engine.pid, "SIGKILL");
      return new Uint8Array(0);
    },
  });
  const script = "print('the last words'); issueCommand(new ArrayBuffer(1)); for (;;);";
  await t.throwsAsync(engine.evaluate(script), { message: /SIGKILL.*the last words/s });
  await engine.close();
});

testOnXs("an answer that fails ends the engine instead of leaving it waiting", async (t) => {
  const engine = new Engine({
    answer: () => {
      throw new Error("no answer to that");
    },
  });
  await t.throwsAsync(engine.evaluate("issueCommand(new ArrayBuffer(1))"), { message: /no answer to that/ });
  await engine.close();
});
