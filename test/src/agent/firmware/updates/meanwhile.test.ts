// While an image comes, everything else goes on: how long a point, a server-side RPC and a change of a shared attribute take at most.
import test from "ava";
import { type Connections, Lamp } from "./lamp.js";

const SIZE = 400_000;
/** Bytes of a peer that take this long: 5 kB/s on each connection. */
const SLOW = { segmentBytes: 1024, segmentMs: 200 };

interface Worst {
  point: number;
  rpc: number;
  attribute: number;
  /** Of each that were tried. */
  rounds: number;
}

/** Tries all three again and again, one after the other, for as long as the image comes. */
async function meanwhile(connections: Connections): Promise<Worst> {
  const lamp = new Lamp({ connections, slotBytes: 128 * 4096 });
  const { clock, net } = lamp.machine;
  let seen = -1;
  lamp.onStart = () => {
    lamp.agent.rpc.handle("echo", (params) => params);
    lamp.agent.attributes.subscribe("level", (level) => {
      seen = Number(level);
    });
  };
  await lamp.pass(60_000);
  Object.assign(net.options, SLOW);
  lamp.release("2.0.0", SIZE);
  let downloading = false;
  lamp.agent.on("firmware", ({ state }) => {
    downloading = state === "DOWNLOADING";
  });
  await lamp.until(() => downloading);
  const worst = { point: 0, rpc: 0, attribute: 0, rounds: 0 };
  const took = async (done: () => boolean): Promise<number> => {
    const since = clock.now();
    await clock.runUntil(() => done() || !downloading, 600_000);
    return done() ? clock.now() - since : 0;
  };
  for (let n = 1; downloading; n++) {
    lamp.agent.telemetry.record({ n });
    worst.point = Math.max(worst.point, await took(() => lamp.latest("n") === n));
    const results = lamp.platform.rpc(lamp.device, "echo", n, { timeoutMs: 600_000 });
    worst.rpc = Math.max(worst.rpc, await took(() => results.length > 0));
    lamp.platform.setShared(lamp.device, { level: n });
    worst.attribute = Math.max(worst.attribute, await took(() => seen === n));
    worst.rounds = n;
  }
  await lamp.untilState("UPDATED");
  return worst;
}

/** ms. With one or two connections each may have to wait for a request for the image (16 KiB, 3.2 s here), or for two; with one for a short poll, too. */
const MOST = {
  1: { point: 12_000, rpc: 12_000, attribute: 10_000 },
  2: { point: 10_000, rpc: 6000, attribute: 10_000 },
  3: { point: 1500, rpc: 500, attribute: 500 },
} as const;

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): points, RPCs and attributes go on while an image comes`, async (t) => {
    const worst = await meanwhile(connections);
    t.log(
      `at most, in ms: point ${worst.point}, RPC ${worst.rpc}, attribute ${worst.attribute} (${worst.rounds} rounds)`,
    );
    t.true(worst.rounds >= 2);
    for (const what of ["point", "rpc", "attribute"] as const)
      t.true(worst[what] > 0 && worst[what] <= MOST[connections][what], what);
  });
}
