// Many whole agents and one platform on one clock: when does each come back after an outage?
import { Agent } from "../../src/index.js";
import { FakeClock } from "../fakes/clock.js";
import { fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { FakePlatform } from "../fakes/platform.js";

const WALL = Date.UTC(2026, 0, 1);
/** Until all are online and hold their polls. */
const CALM_MS = 60_000;
/** Points of a device: often enough that a lost platform is noticed, seldom enough that an hour of many passes quickly. */
const POINT_MS = 120_000;

export interface Crowd {
  readonly devices: number;
  readonly connections: 1 | 2 | 3;
  readonly outageMs: number;
  readonly seed: number;
}

/** When each device's first request came, in ms after the platform did. All connections break at one instant, and are refused from then on. */
export async function crowdComesBack({ devices, connections, outageMs, seed }: Crowd): Promise<number[]> {
  const clock = new FakeClock(WALL);
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const accept = net.onConnect;
  const agents = Array.from({ length: devices }, (_, number) => {
    platform.create(`device-${number}`, `token-${number}`);
    const host = fakeHost({ clock, network: net, seed: seed * devices + number });
    const options = { baseUrl: "http://platform.test", connections, token: `token-${number}` };
    const agent = new Agent(host, options);
    record(agent, clock);
    agent.start();
    return agent;
  });
  await clock.advance(CALM_MS);
  for (const peer of net.peers) if (!peer.closed) peer.reset();
  net.peers.length = 0;
  net.onConnect = (peer) => {
    peer.reset("connection refused");
    return false;
  };
  await clock.advance(outageMs);
  net.onConnect = accept;
  const since = clock.now();
  const back = new Map<string | undefined, number>();
  platform.fault = ({ path }) => {
    const token = path.split("/")[3];
    if (!back.has(token)) back.set(token, clock.now() - since);
    return undefined;
  };
  await clock.runUntil(() => back.size === devices);
  const stopped = Promise.all(agents.map((agent) => agent.stop()));
  await clock.advance(0);
  await stopped;
  return [...back.values()];
}

function record(agent: Agent, clock: FakeClock): void {
  agent.telemetry.record({ temperature: 20 });
  clock.timer(POINT_MS, () => record(agent, clock));
}
