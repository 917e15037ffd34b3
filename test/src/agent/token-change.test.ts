// While the platform answers 401 to the token, whatever the application asked for waits until the token is good again.
import type { ExecutionContext } from "ava";
import type { Agent } from "../../../src/index.js";
import type { SeenRequest } from "../../fakes/server.js";
import { details, NAME, type Rig, startRig, test } from "./rig.js";

/** A device that is online, on a platform that forgets the token for now. `isMet`: requests that meet it. */
async function forgotten(
  t: ExecutionContext,
  connections: 1 | 2 | 3,
  isMet: (request: SeenRequest) => boolean = () => true,
): Promise<{ rig: Rig; agent: Agent; remember: () => void; met: SeenRequest[] }> {
  const rig = startRig(t);
  const agent = rig.agent({ connections });
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.setShared(rig.platform.device(NAME), { interval: 7 });
  const met: SeenRequest[] = [];
  rig.platform.fault = (request) => {
    if (!isMet(request)) return undefined;
    met.push(request);
    return { status: 401 };
  };
  const remember = () => {
    rig.platform.fault = undefined;
  };
  return { rig, agent, remember, met };
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): read, call and claim wait while the token is unknown, then get their answer`, async (t) => {
    const { rig, agent, remember, met } = await forgotten(t, connections);
    const calls = Promise.allSettled([
      agent.attributes.read({ sharedKeys: ["interval"], timeoutMs: 120_000 }),
      agent.rpc.call("getCurrentTime", {}, { timeoutMs: 120_000 }),
      agent.claim({ timeoutMs: 120_000 }),
    ]);
    await rig.clock.runUntil(() => met.length > 0, 40_000);
    await rig.clock.advance(5000);
    remember();
    await rig.clock.advance(75_000);
    const ended = await calls;
    t.deepEqual(
      ended.map(({ status }) => status),
      ["fulfilled", "fulfilled", "fulfilled"],
      JSON.stringify(ended),
    );
    t.like(ended[0], { value: { shared: { interval: 7 } } });
    const sent = rig.platform.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/rpc"));
    t.is(sent.length - met.filter((request) => sent.includes(request)).length, 1, "the platform ran it once");
  });
}

test("a call whose time runs out while the token is unknown ends with TIMEOUT", async (t) => {
  const { rig, agent } = await forgotten(t, 3);
  const read = t.throwsAsync(agent.attributes.read({ timeoutMs: 20_000 }), { code: "TIMEOUT" });
  const call = t.throwsAsync(agent.rpc.call("getCurrentTime", {}, { timeoutMs: 20_000 }), {
    code: "TIMEOUT",
  });
  await rig.clock.advance(20_001);
  await Promise.all([read, call]);
});

test("a stop ends a call that waits for the token", async (t) => {
  const { rig, agent } = await forgotten(t, 3);
  const read = t.throwsAsync(agent.attributes.read(), { code: "STOPPED" });
  await rig.clock.advance(1000);
  const stopped = agent.stop();
  await rig.clock.advance(0);
  await Promise.all([read, stopped]);
});

test("points, attributes and RPCs that met a 401 reach the platform once the token is good again", async (t) => {
  const { rig, agent, remember } = await forgotten(t, 3);
  let ran = 0;
  agent.rpc.handle("setLed", () => ++ran);
  agent.telemetry.record({ n: 1 });
  agent.attributes.publish({ serial: "A1" });
  await rig.clock.advance(5000);
  const results = rig.platform.rpc(rig.platform.device(NAME), "setLed", null, { timeoutMs: 600_000 });
  remember();
  await rig.clock.advance(600_000);
  t.is(rig.platform.latest(rig.platform.device(NAME), "n"), 1);
  t.is(rig.platform.attributes(rig.platform.device(NAME)).serial, "A1");
  t.is(ran, 1);
  t.is(results.length, 1);
  t.deepEqual(details(rig, "drop"), []);
});

test("an answer to an RPC that met a 401 is posted again only when the platform hands the RPC out again", async (t) => {
  const { rig, agent, remember, met } = await forgotten(t, 3, ({ path }) => path.includes("/rpc/"));
  let ran = 0;
  agent.rpc.handle("setLed", () => ++ran);
  const device = rig.platform.device(NAME);
  const results = rig.platform.rpc(device, "setLed", null, { timeoutMs: 8000 });
  await rig.clock.advance(500);
  t.is(met.length, 1);
  await rig.clock.advance(9000);
  const posted = met.length;
  remember();
  // It expired: nobody waits for the answer any more.
  await rig.clock.advance(60_000);
  t.is(rig.platform.seen.filter(({ path }) => path.includes("/rpc/")).length, posted);
  t.is(ran, 1);
  t.is(results.length, 1);
});
