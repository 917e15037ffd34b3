// Whole agents and the local platform on one clock, and what the platform saw of them second by second: what tools/fleet/model is held against.
import { Agent } from "../../../src/index.js";
import { KINDS, type Kind } from "../../../tools/fleet/model/load.js";
import type { Chances, FleetConfig } from "../../../tools/fleet/model/model.js";
import { BASE_URL, Counted } from "../../bench/counted.js";
import { fakeHost } from "../../fakes/host.js";

const TOKEN = "A1B2C3D4E5F6G7H8";
/** The length of `{"temperature":20.5}`. */
export const POINT = { temperature: 20.5 };

export type Seen = Record<Kind, Float64Array>;

/** `chances`: each agent starts when its model does, and throws the dice that its model throws. */
export async function runWhole(
  config: FleetConfig,
  chances: (number: number, rampMs: number) => Chances,
): Promise<Seen> {
  const counted = new Counted(config.latencyMs);
  const { clock, net, core } = counted;
  for (let number = 0; number < config.devices; number++) {
    const token = `${TOKEN}${String(number).padStart(4, "0")}`;
    core.createDevice({ name: `device-${number}`, profileId: core.profiles.default.id }, token);
    const { startMs, host } = chances(number, config.rampMs);
    clock.timer(startMs, () => startAgent(counted, config, { token, number, host }));
  }
  const accept = net.onConnect;
  const { outage } = config;
  if (outage) {
    clock.timer(outage.fromMs, () => {
      for (const peer of net.peers) if (!peer.closed) peer.reset();
      net.onConnect = (peer) => {
        peer.reset("connection refused");
        return false;
      };
    });
    clock.timer(outage.toMs, () => {
      net.onConnect = accept;
    });
  }
  return bySecond(counted, Math.ceil(config.forMs / 1000));
}

function startAgent(
  { clock, net }: Counted,
  config: FleetConfig,
  { token, number, host }: { token: string; number: number; host: Chances["host"] },
): void {
  const { connections, intervalMs, batchAgeMs, batchPoints, batchBytes } = config;
  const own = { ...fakeHost({ clock, network: net, seed: number, hardwareId: `fake-${number}` }), ...host };
  const agent = new Agent(own, {
    baseUrl: BASE_URL,
    token,
    connections,
    telemetry: { batchAgeMs, batchPoints, batchBytes, bufferBytes: 65_536 },
    firmware: { title: "greenhouse", version: "1.0.0" },
  });
  const record = (): void => {
    agent.telemetry.record(POINT);
    clock.timer(intervalMs, record);
  };
  agent.start();
  record();
}

async function bySecond(counted: Counted, seconds: number): Promise<Seen> {
  const seen = Object.fromEntries(KINDS.map((kind) => [kind, new Float64Array(seconds)])) as Seen;
  let before = { requests: 0, connections: 0, bytes: 0, points: 0 };
  for (let second = 0; second < seconds; second++) {
    await counted.clock.advance(second === 0 ? 999 : 1000);
    const { requests, handshakes: connections, bytes, points } = counted;
    const now = { requests, connections, bytes, points };
    for (const kind of Object.keys(seen) as Kind[]) seen[kind][second] = now[kind] - before[kind];
    before = now;
    counted.forget();
  }
  return seen;
}
