// After an outage of the machine's own network, which the host saw end: everything is tried at once.
import { details, NAME, startRig, test } from "./rig.js";

/** A network that takes what is sent, and nothing comes back. */
function gone(rig: ReturnType<typeof startRig>): () => void {
  const connect = rig.net.onConnect;
  rig.net.onConnect = () => {};
  for (const peer of rig.net.peers)
    if (!peer.closed) Object.assign(peer, { send: () => {}, onData: undefined });
  return () => {
    rig.net.onConnect = connect;
  };
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): back from an outage of 92 s within a second`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ connections });
    const runs: unknown[] = [];
    agent.rpc.handle("setLed", (params) => runs.push(params));
    agent.start();
    await rig.clock.runUntil(() => agent.state === "online");
    await rig.clock.advance(5000);
    const back = gone(rig);
    for (let second = 0; second < 92; second++) {
      agent.telemetry.record({ n: second });
      await rig.clock.advance(1000);
    }
    t.is(agent.state, "offline");
    back();
    agent.networkReturned();
    await rig.clock.advance(1000);
    t.is(agent.state, "online");
    await rig.clock.advance(5000);
    t.is(agent.telemetry.waiting, 0);
    const results = rig.platform.rpc(rig.platform.device(NAME), "setLed", { on: 1 }, { timeoutMs: 40_000 });
    await rig.clock.advance(connections === 1 ? 30_000 : 2000);
    t.is(results[0]?.kind, "answer");
    t.deepEqual(runs, [{ on: 1 }]);
    t.is(details(rig, "offline").length, 1);
  });
}

test("a device without a token asks for one at once", async (t) => {
  const rig = startRig(t);
  const back = gone(rig);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(600_000);
  t.is(rig.platform.seen.length, 0);
  back();
  agent.networkReturned();
  await rig.clock.advance(1000);
  t.is(agent.state, "online");
});

test("while the platform answers, and while the agent is stopped, it changes nothing", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.networkReturned();
  t.is(agent.state, "stopped");
  agent.start();
  await rig.clock.advance(5000);
  const connected = rig.net.peers.length;
  const asked = rig.platform.seen.length;
  agent.networkReturned();
  await rig.clock.advance(100);
  t.is(rig.net.peers.length, connected);
  t.is(rig.platform.seen.length, asked);
});

test("a network that returns before a platform that is away: tried once, then ever more slowly as ever", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  agent.start();
  await rig.clock.advance(5000);
  gone(rig);
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(600_000);
  const after = async (ms: number) => {
    const before = rig.net.peers.length;
    await rig.clock.advance(ms);
    return rig.net.peers.length - before;
  };
  agent.networkReturned();
  t.true((await after(1000)) >= 1);
  await rig.clock.advance(1_800_000);
  const late = await after(1_800_000);
  t.true(late <= 30, `${late}`);
});
