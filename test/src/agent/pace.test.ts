// Whatever a platform or a proxy answers, and however fast: the agent goes slowly, and goes on.
import test, { type ExecutionContext } from "ava";
import type { AgentOptions } from "../../../src/index.js";
import type { Fault } from "../../fakes/platform.js";
import type { SeenRequest } from "../../fakes/server.js";
import { HOT, KINDS, type Kind, keepsItsPace } from "./instant.js";
import { details, type Rig, startOnline, startRig, watch } from "./rig.js";

const MINUTE = 60_000;

async function online(t: ExecutionContext, options: Partial<AgentOptions>): Promise<Rig> {
  const { rig, agent } = await startOnline(t, options);
  watch(agent);
  agent.rpc.handle("setLed", () => true);
  agent.telemetry.record({ n: 1 });
  return rig;
}

/** Requests within ten minutes of `fault`. */
async function requests(rig: Rig, fault: (request: SeenRequest) => Fault): Promise<number> {
  const before = rig.platform.seen.length;
  rig.platform.fault = fault;
  await rig.clock.advance(10 * MINUTE);
  return rig.platform.seen.length - before;
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): an idle device sends few requests`, async (t) => {
    const rig = await online(t, { connections });
    const count = await requests(rig, () => undefined);
    t.true(count <= 80, `${count} requests in ten minutes`);
  });

  test(`${connections} connection(s): refused new connections beside one that works form no circle`, async (t) => {
    const rig = await online(t, { connections });
    const accept = rig.net.onConnect;
    let refused = 0;
    rig.net.onConnect = (peer) => {
      refused++;
      peer.reset("connection refused");
      return false;
    };
    const count = (await requests(rig, () => undefined)) + refused;
    t.true(count <= 600, `${count} requests and attempts in ten minutes`);
    rig.net.onConnect = accept;
  });
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): polls that are reset at once beside answered reads get rare`, async (t) => {
    const rig = await online(t, { connections });
    const resets = ({ path }: SeenRequest): Fault => (path.includes("/rpc?") ? "drop" : undefined);
    await requests(rig, resets);
    const count = await requests(rig, resets);
    t.true(count <= 200, `${count} requests in ten minutes`);
    // And they return when the platform answers them again.
    const asked = await requests(rig, () => undefined);
    t.true(asked >= 20, `${asked} requests in ten minutes`);
  });
}

test("a token that some requests find unknown and others good is reported once", async (t) => {
  const rig = await online(t, {});
  await requests(rig, ({ path }) => (path.includes("rpc?") ? { status: 401 } : undefined));
  t.is(rig.host.lines.filter((line) => line.includes("401")).length, 1);
});

test("three connections: where attribute polls are refused, a change is still seen within 31 s", async (t) => {
  const { rig, agent, device } = await startOnline(t, { connections: 3 });
  const seen = watch(agent);
  rig.platform.fault = ({ path }) => (path.includes("updates") ? { status: 404 } : undefined);
  await rig.clock.advance(10 * MINUTE);
  // At any moment between two refused polls, which come minutes apart by now.
  for (let interval = 1; interval <= 10; interval++) {
    rig.platform.setShared(device, { interval });
    await rig.clock.advance(31_000);
    t.is(seen.at(-1), interval);
    await rig.clock.advance(16_000);
  }
});

test("fifty reads at once all end with their answer, and are not taken for an outage", async (t) => {
  const { rig, agent } = await startOnline(t);
  const reads = Array.from({ length: 50 }, () => agent.attributes.read({ sharedKeys: ["interval"] }));
  await t.notThrowsAsync(rig.clock.untilSettled(Promise.all(reads), 5000));
  t.deepEqual(details(rig, "offline"), []);
});

test("an agent that is stopped after 15 s each time does not take its own stops for polls that were cut", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  for (let runs = 0; runs < 5; runs++) {
    agent.start();
    await rig.clock.advance(15_000);
    await Promise.all([agent.stop(), rig.clock.advance(0)]);
  }
  const polls = rig.platform.seen.filter(({ path }) => path.includes("/rpc?timeout="));
  t.true(polls.length >= 5);
  t.true(polls.every(({ path }) => path.endsWith("timeout=25000")));
});

// Whatever a platform answers at once, no job sends more than its budget.

for (const kind of [...(Object.keys(KINDS) as Kind[]), "all"] as const) {
  test(`${kind}: no instant answer makes a job send more than its budget`, async (t) => {
    for (const answer of HOT) await keepsItsPace(t, 3, kind, answer);
  });
}
