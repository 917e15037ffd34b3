// An agent and a platform on one clock that stands still until a test moves it.
import type { ExecutionContext } from "ava";

export { default as test } from "ava";

import { Agent, type AgentOptions } from "../../../src/index.js";
import type { Device } from "../../../tools/platform/core/devices.js";
import type { RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeFlash, FakeSlot } from "../../fakes/flash.js";
import { type FakeHost, FakeStore, fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";

type RpcOptions = Parameters<FakePlatform["rpc"]>[3];

export const NAME = "greenhouse-7";
const WALL = Date.UTC(2026, 0, 1);

export interface Rig {
  readonly clock: FakeClock;
  readonly net: FakeNet;
  readonly platform: FakePlatform;
  readonly store: FakeStore;
  /** The host of the agent made last. */
  host: FakeHost;
  /** What the agent made last has events: `event` and its detail. */
  readonly events: [string, unknown][];
  /** Its device on the platform, once it was provisioned. */
  readonly device: Device;
  /** Values of a key's points on the platform, oldest first. */
  values(key: string): unknown[];
  /** Sends a server-side RPC, lets `ms` pass, and returns what its caller learnt. */
  call(method: string, params: unknown, ms: number, options?: RpcOptions): Promise<RpcResult[]>;
  /** A new agent on what the one before kept: a restart. Not started. `Made`: of another build. */
  agent(options?: Partial<AgentOptions>, Made?: typeof Agent): Agent;
  /** Lets a device go as a power loss does: its agent is heard no more, and hears nothing. */
  powerOff(): void;
}

const EVENTS = [
  "provisioned",
  "online",
  "offline",
  "delivered",
  "drop",
  "attributes",
  "rpc",
  "firmware",
  "refused",
  "restart",
] as const;

export function startRig(t: ExecutionContext): Rig {
  const clock = new FakeClock(WALL);
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const store = new FakeStore();
  const blocks = new FakeFlash(16 * 4096, 4096);
  const slot = new FakeSlot(64 * 4096, 4096);
  const agents: Agent[] = [];
  const events: [string, unknown][] = [];
  const rig: Rig = {
    clock,
    net,
    platform,
    store,
    events,
    get device() {
      return platform.device(NAME);
    },
    values: (key) => platform.points(rig.device, key).map(({ value }) => value),
    call: async (method, params, ms, options) => {
      const results = platform.rpc(rig.device, method, params, options);
      await clock.advance(ms);
      return results;
    },
    host: fakeHost({ clock, network: net, store, blocks, slot }),
    agent: (options = {}, Made = Agent) => {
      rig.host = fakeHost({ clock, network: net, store, blocks, slot, seed: agents.length + 1 });
      const agent = new Made(rig.host, {
        baseUrl: "http://platform.test",
        provisioning: { key: KEY, secret: SECRET, deviceName: NAME },
        ...options,
      });
      agents.push(agent);
      for (const event of EVENTS) agent.on(event, (detail) => events.push([event, detail]));
      return agent;
    },
    powerOff: () => {
      for (const peer of net.peers) if (!peer.closed) peer.onClose?.();
      Object.assign(rig.host, { open: () => ({ write: () => 0, read: () => 0, close: () => {} }) });
      agents.at(-1)?.stop();
      rig.store.fails = undefined;
    },
  };
  t.teardown(async () => {
    for (const agent of agents) {
      await Promise.all([agent.stop(), clock.advance(0)]);
    }
    const failed = rig.host.lines.find((line) => line.includes("loop failed"));
    if (failed) throw new Error(failed);
  });
  return rig;
}

/** A rig with an agent that was started `forMs` ago, and its device on the platform. */
export async function startOnline(
  t: ExecutionContext,
  options: Partial<AgentOptions> = {},
  forMs = 5000,
): Promise<{ rig: Rig; agent: Agent; device: Device }> {
  const rig = startRig(t);
  const agent = rig.agent(options);
  agent.start();
  await rig.clock.advance(forMs);
  return { rig, agent, device: rig.device };
}

/** All that a subscriber of `key` is called with from now on, from its first value on. */
export function watch(agent: Agent, key = "interval"): unknown[] {
  const seen: unknown[] = [];
  agent.attributes.subscribe(key, (value) => {
    if (value !== undefined || seen.length > 0) seen.push(value);
  });
  return seen;
}

/** The details of one event, in order. */
export function details(rig: Rig, event: string): unknown[] {
  return rig.events.filter(([name]) => name === event).map(([, detail]) => detail);
}
