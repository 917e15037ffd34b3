import "../../../hosts/node/dispose.js";
import test from "ava";
import type { Agent } from "../../../src/index.js";
import { NAME, startRig } from "./rig.js";

for (const [name, call] of [
  ["attributes.read", (agent, signal) => agent.attributes.read({ sharedKeys: ["a"], signal })],
  ["rpc.call", (agent, signal) => agent.rpc.call("getCurrentTime", {}, { signal })],
  ["claim", (agent, signal) => agent.claim({ signal })],
] as [string, (agent: Agent, signal: AbortSignal) => Promise<unknown>][]) {
  test(`${name} ends with ABORTED when its signal is aborted, and the agent goes on`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent();
    agent.start();
    await rig.clock.advance(5_000);
    rig.platform.fault = () => "hang";
    const controller = new AbortController();
    const ended = t.throwsAsync(call(agent, controller.signal), { code: "ABORTED" });
    await rig.clock.advance(1_000);
    controller.abort();
    await ended;
    rig.platform.fault = undefined;
    agent.telemetry.record({ a: 1 });
    await rig.clock.advance(60_000);
    t.is(rig.platform.latest(rig.platform.device(NAME), "a"), 1);
  });
}

test("flush resolves with false when its signal is aborted", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  rig.platform.fault = () => "hang";
  agent.telemetry.record({ a: 1 });
  const controller = new AbortController();
  const flushed = agent.flush({ timeoutMs: 600_000, signal: controller.signal });
  await rig.clock.advance(10);
  controller.abort();
  t.false(await flushed);
  t.false(await agent.flush({ timeoutMs: 600_000, signal: controller.signal }));
});

test("close stops the agent for good and says how many points were lost", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  const closed = agent.close();
  await rig.clock.advance(5_000);
  t.deepEqual(await closed, { lostPoints: 0 });
  t.throws(() => agent.start(), { code: "STOPPED" });
});

test("on Node an agent can be disposed of with `await using`", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  const disposed = agent[Symbol.asyncDispose]();
  await rig.clock.advance(5_000);
  await disposed;
  t.throws(() => agent.start(), { code: "STOPPED" });
});

test("a call that was aborted before it could be sent is never sent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5_000);
  rig.platform.fault = () => "drop";
  const controller = new AbortController();
  const { signal } = controller;
  const calls = [
    agent.claim({ signal, timeoutMs: 600_000 }),
    agent.rpc.call("getCurrentTime", {}, { signal, timeoutMs: 600_000 }),
  ].map((call) => call.catch(() => {}));
  await rig.clock.advance(20_000);
  controller.abort();
  await Promise.all(calls);
  rig.platform.fault = undefined;
  const before = rig.platform.seen.length;
  await rig.clock.advance(120_000);
  const later = rig.platform.seen
    .slice(before)
    .filter(({ path, method }) => /claim$|rpc$/.test(path) && method === "POST");
  t.deepEqual(later, []);
});

test("a signal that is not an AbortSignal is refused before anything starts", async (t) => {
  const agent = startRig(t).agent();
  const signal = { aborted: false } as never;
  await t.throwsAsync(agent.attributes.read({ signal }), { code: "BAD_VALUE" });
  await t.throwsAsync(agent.claim({ signal }), { code: "BAD_VALUE" });
  await t.throwsAsync(agent.flush({ signal }), { code: "BAD_VALUE" });
});
