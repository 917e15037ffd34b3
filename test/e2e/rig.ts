// A stand-in and agents on the Node host, in one process, for tests that look from the platform's side only.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import { createHost } from "../../hosts/node/host.js";
import { Operator } from "../../hosts/operator/operator.js";
import { type Platform, startPlatform } from "../../hosts/platform/server.js";
import { Agent, type AgentOptions } from "../../src/index.js";

export type Mode = "documented" | "deployed";
export const MODES: readonly Mode[] = ["documented", "deployed"];

export interface Rig {
  readonly platform: Platform;
  readonly operator: Operator;
  /** State of the device; kept from one agent to the next. */
  readonly stateDir: string;
  /** A new agent on the same state: what a restart is to a device. Not started. */
  agent(options?: Partial<AgentOptions>): Agent;
  /** Resolves with the device's id once the platform has it. */
  deviceId(): Promise<string>;
}

export const DEVICE = "rig";

export async function startRig(t: ExecutionContext, as: Mode): Promise<Rig> {
  const platform = await startPlatform({ port: 0, as });
  const stateDir = mkdtempSync(join(tmpdir(), "mote-e2e-"));
  const operator = new Operator({ url: platform.url });
  const agents: Agent[] = [];
  await operator.login("tenant@thingsboard.org", "tenant");
  t.teardown(async () => {
    for (const agent of agents) await agent.stop();
    await platform.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  return {
    platform,
    operator,
    stateDir,
    agent: (options = {}) => {
      const agent = new Agent(createHost({ stateDir, log: () => {} }), {
        baseUrl: platform.url,
        provisioning: { ...platform.profile, deviceName: DEVICE },
        connections: 3,
        ...options,
        telemetry: { batchAgeMs: 50, ...options.telemetry },
      });
      agents.push(agent);
      return agent;
    },
    deviceId: () => until(async () => (await operator.devices.byName(DEVICE))?.id.id, "the device exists"),
  };
}

/** Asks again until there is something: the platform's side of things comes a little later. Fails after 20 s. */
export async function until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`waited 20 s in vain until ${what}`);
}

/** The newest value of one time series. */
export async function latest(rig: Rig, id: string, key: string): Promise<unknown> {
  return (await rig.operator.timeSeries.latest(id, [key]))[key]?.value;
}
