// A platform and agents on the Node host, in one process, for tests that look from the platform's
// side only: through its REST.
import { randomBytes } from "node:crypto";
import type { ExecutionContext } from "ava";
import { createHost, type NodeHost } from "../../hosts/node/host.js";
import { Agent, type AgentOptions } from "../../src/index.js";
import { Operator } from "../../tools/operator/operator.js";
import { scratch } from "../tools/scratch.js";
import { until as eventually } from "../tools/until.js";
import { isGiven, open, PATIENCE_MS, type Server } from "./server.js";
import { newName, remove, sweep } from "./traces.js";

/** What a rig needs of a test. */
export type Teardown = Pick<ExecutionContext, "teardown">;

export interface Rig {
  readonly server: Server;
  readonly url: string;
  /** Of the device, its profile and its firmware: the rig's own. */
  readonly name: string;
  readonly profileId: string;
  readonly provisioning: { readonly key: string; readonly secret: string };
  readonly operator: Operator;
  /** State of the device; kept from one agent to the next. */
  readonly stateDir: string;
  /** A new agent on the same state: what a restart is to a device. Not started. */
  agent(options?: Partial<AgentOptions>): Agent;
  /** Resolves with the device's id once the platform has it. */
  deviceId(): Promise<string>;
}

let swept: Promise<void> | undefined;
function sweepOnce(operator: Operator): Promise<void> {
  swept ??= sweep(operator);
  return swept;
}

/**
 * With a device profile of its own. When the test ends, however it does, all that was made is
 * deleted.
 */
export async function startRig(t: Teardown, server: Server): Promise<Rig> {
  const { url, close } = await open(server);
  const stateDir = scratch();
  const operator = new Operator({ url, timeoutMs: PATIENCE_MS });
  const agents: Agent[] = [];
  let host: NodeHost | undefined;
  const name = newName();
  let isLoggedIn = false;
  t.teardown(async () => {
    await Promise.allSettled(agents.map((agent) => agent.stop()));
    host?.close();
    try {
      if (isLoggedIn) await remove(operator, name);
    } finally {
      await close();
    }
  });
  await operator.login(server.tenant.username, server.tenant.password);
  isLoggedIn = true;
  if (server.url !== undefined) await sweepOnce(operator);
  const provisioning = { key: randomBytes(10).toString("hex"), secret: randomBytes(10).toString("hex") };
  const profileId = await createProfile(operator, name, provisioning);
  return {
    server,
    url,
    name,
    profileId,
    provisioning,
    operator,
    stateDir,
    agent: (options = {}) => {
      // A start after another, of which the state directory has one at a time.
      host?.close();
      host = createHost({ stateDir, log: () => {} });
      const agent = new Agent(host, {
        baseUrl: url,
        provisioning: { ...provisioning, deviceName: name },
        connections: 3,
        ...options,
        telemetry: { batchAgeMs: 50, ...options.telemetry },
      });
      agents.push(agent);
      return agent;
    },
    deviceId: () => until(async () => (await operator.devices.byName(name))?.id.id, "the device exists"),
  };
}

async function createProfile(
  operator: Operator,
  name: string,
  { key, secret }: Rig["provisioning"],
): Promise<string> {
  const type = "ALLOW_CREATE_NEW_DEVICES";
  const profile = await operator.profiles.save({
    name,
    type: "DEFAULT",
    transportType: "DEFAULT",
    provisionType: type,
    provisionDeviceKey: key,
    profileData: {
      configuration: { type: "DEFAULT" },
      transportConfiguration: { type: "DEFAULT" },
      provisionConfiguration: { type, provisionDeviceSecret: secret },
      alarms: null,
    },
  });
  return profile.id.id;
}

/** Asks again until there is something, as the platform stores a little later. */
export const until = <T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> =>
  eventually(look, { ms: PATIENCE_MS, everyMs: isGiven ? 150 : 20, what });

/** The newest value of one time series. */
export async function latest(rig: Rig, id: string, key: string): Promise<unknown> {
  return (await rig.operator.timeSeries.latest(id, [key]))[key]?.value;
}
