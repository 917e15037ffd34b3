// An agent on XS and the local platform's device API, on one clock that stands still until a test
// moves it.

import type { AgentOptions } from "../../../src/index.js";
import type { Device } from "../../../tools/platform/core/devices.js";
import { FakeClock, settle } from "../../fakes/clock.js";
import { FakeFlash, FakeSlot } from "../../fakes/flash.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakePlatform } from "../../fakes/platform.js";
import { Bridge, type BridgeOptions } from "./bridge.js";

export const ENTRY = 'import * as mote from "./src/index.ts"; globalThis.mote = mote;';
const COUNTING = "./test/xs/guest/buffers.ts";
const SLOT_SECTORS = 320;
const WALL = Date.UTC(2026, 0, 1);
/** What an agent does once at its start is over. */
const START_MS = 60_000;
/** After a poll was opened the one before it has ended, and what follows from that is over. */
const REST_MS = 5000;

/** Who ends it: a test, or a program. */
export interface Teardown {
  teardown(end: () => Promise<void>): void;
}

/**
 * An engine on a host whose time a test moves; all of the engine's work is done at each of its
 * steps.
 */
export async function atFakeTime(t: Teardown, host: FakeHost, options: BridgeOptions) {
  const bridge = await Bridge.start(host, options);
  host.clock.settled = async () => {
    await settle();
    await bridge.idle();
  };
  t.teardown(() => bridge.close());
  return { bridge, clock: host.clock };
}

export interface Still {
  readonly clock: FakeClock;
  readonly host: FakeHost;
  readonly platform: FakePlatform;
  readonly device: Device;
  readonly bridge: Bridge;
  /** RPC polls begun so far. */
  readonly polls: number;
  /** Slots in use once nothing goes on but waiting. */
  slots(): Promise<number>;
  /** Bytes of the buffers in use; 0 unless they are counted, which itself takes slots. */
  buffers(): Promise<number>;
}

/**
 * The agent is `agent` on XS, with a token. `setUp` is a script that may use it before it is
 * started. `sectors`: of the durable queue. `counting`: buffers are counted (`setUp` must leave
 * `fromParent` alone then).
 */
export async function standStill(
  t: Teardown,
  options: Partial<AgentOptions>,
  setUp = "",
  sectors = 16,
  counting = false,
): Promise<Still> {
  const clock = new FakeClock(WALL);
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const device = platform.create("still", "T1");
  const host = fakeHost({
    clock,
    network: net,
    blocks: new FakeFlash(sectors * 4096, 4096),
    slot: new FakeSlot(SLOT_SECTORS * 4096, 4096),
  });
  let buffers = 0;
  const parent = (_what: string, bytes: number): void => {
    buffers = bytes;
  };
  const entry = { entry: ENTRY, parent, ...(counting && { guest: COUNTING }) };
  const { bridge } = await atFakeTime(t, host, entry);
  t.teardown(async () => {
    const failed = host.lines.find((line) => line.includes("loop failed"));
    if (failed) throw new Error(failed);
  });
  const all = { baseUrl: "http://platform.test", token: "T1", ...options };
  await bridge.run(
    `globalThis.agent = new mote.Agent(host, ${JSON.stringify(all)}); ${setUp}; agent.start()`,
  );
  let polls = 0;
  platform.fault = ({ path }) => {
    if (path.includes("/rpc?timeout=")) polls++;
    return undefined;
  };
  await clock.advance(START_MS);
  return {
    clock,
    host,
    platform,
    device,
    bridge,
    get polls() {
      return polls;
    },
    async slots() {
      const before = polls;
      await clock.runUntil(() => polls > before);
      await clock.advance(REST_MS);
      return bridge.slots();
    },
    async buffers() {
      if (counting) bridge.notify("buffers", 0);
      await bridge.idle();
      return buffers;
    },
  };
}
