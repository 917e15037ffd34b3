// Many whole agents and one platform on one clock: when does each come back after an outage?
import { Agent } from "../../../src/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform } from "../../fakes/platform.js";
import { deaden } from "../../simulation/faults.js";

const WALL = Date.UTC(2026, 0, 1);
/** Until all are online and hold their polls. */
const CALM_MS = 60_000;
/**
 * Points of a device: often enough that a lost platform is noticed, seldom enough that an hour of
 * many passes quickly.
 */
const POINT_MS = 120_000;

export interface Crowd {
  readonly devices: number;
  readonly connections: 1 | 2 | 3;
  readonly outageMs: number;
  readonly seed: number;
  /** Each has a shared attribute to look for. */
  readonly reads?: boolean;
  /**
   * Switched on together, devices get none of these for the outage, and no word of it. Default: all
   * are online, then connections break and are refused.
   */
  readonly without?: "answers" | "connections";
}

interface Returned {
  readonly clock: FakeClock;
  readonly platform: FakePlatform;
  readonly agents: readonly Agent[];
}

/** All connections break at one instant, and are refused until the outage is over. */
async function lostAndBack({
  devices,
  connections,
  outageMs,
  seed,
  reads,
  without,
}: Crowd): Promise<Returned> {
  const clock = new FakeClock(WALL);
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const accept = net.onConnect;
  const agents = Array.from({ length: devices }, (_, number) => {
    platform.create(`device-${number}`, `token-${number}`);
    const host = fakeHost({ clock, network: net, seed: seed * devices + number });
    const options = { baseUrl: "http://platform.test", connections, token: `token-${number}` };
    const agent = new Agent(host, options);
    if (reads) agent.attributes.subscribe("interval", () => {});
    record(agent, clock);
    agent.start();
    return agent;
  });
  await clock.advance(without ? 0 : CALM_MS);
  for (const peer of net.peers)
    if (without) deaden({ peer });
    else if (!peer.closed) peer.reset();
  net.peers.length = 0;
  net.onConnect = (peer) => {
    if (!without) peer.reset("connection refused");
    return without === "answers" ? undefined : false;
  };
  await clock.advance(outageMs);
  net.onConnect = accept;
  return { clock, platform, agents };
}

/** When each device's first request came, in ms after the platform did. */
export async function crowdComesBack(crowd: Crowd): Promise<number[]> {
  const { clock, platform, agents } = await lostAndBack(crowd);
  const since = clock.now();
  const back = new Map<string | undefined, number>();
  platform.fault = ({ path }) => {
    const token = path.split("/")[3];
    if (!back.has(token)) back.set(token, clock.now() - since);
    return undefined;
  };
  await clock.runUntil(() => back.size === crowd.devices);
  await stopAll(clock, agents);
  return [...back.values()];
}

/**
 * The polls for RPCs and for attributes that the platform got in each of the `seconds` after it
 * came back.
 */
export async function pollsAfter(
  crowd: Crowd,
  seconds: number,
): Promise<Record<"rpc" | "updates", number[]>> {
  const { clock, platform, agents } = await lostAndBack(crowd);
  const since = clock.now();
  const none = (): number[] => Array.from({ length: seconds }, () => 0);
  const polls = { rpc: none(), updates: none() };
  platform.fault = ({ path }) => {
    const second = Math.floor((clock.now() - since) / 1000);
    for (const [kind, counts] of Object.entries(polls))
      if (path.includes(`/${kind}?timeout=`)) counts[second] = (counts[second] ?? 0) + 1;
    return undefined;
  };
  await clock.advance(seconds * 1000 - 1);
  await stopAll(clock, agents);
  return polls;
}

async function stopAll(clock: FakeClock, agents: readonly Agent[]): Promise<void> {
  const stopped = Promise.all(agents.map((agent) => agent.stop()));
  await clock.advance(0);
  await stopped;
}

function record(agent: Agent, clock: FakeClock): void {
  agent.telemetry.record({ temperature: 20 });
  clock.timer(POINT_MS, () => record(agent, clock));
}
