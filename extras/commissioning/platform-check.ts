// Tests whether the platform is reachable and accepts the device, with a real agent and the new
// settings.

import { none } from "../../hosts/none.js";
import { Agent, type AgentOptions, isMoteError } from "../../src/index.js";
import type { Host } from "../../src/port.js";
import { CheckStore, discardOtherCheckedToken } from "./stored-settings.js";
import type { Finding, Values } from "./values.js";

/** Time limit, which allows a second attempt. */
const DEADLINE_MS = 45_000;

/** Records nothing and requests little, because a board has little memory beside the page. */
const SMALLEST = {
  telemetry: { bufferBytes: 1024, batchBytes: 512 },
  attributes: { answerBytes: 512 },
  rpc: { requestBytes: 512, answerBytes: 512 },
};

/** Explains a failed connection by the host's reason. */
const CAUSES: readonly (readonly [said: string, field: Finding["field"], meant: string])[] = [
  ["certificate", "ca", "the platform's certificate is not trusted"],
  [
    "name not found",
    "url",
    "server name not found: check the platform's address, and whether this network reaches it",
  ],
  ["TLS", "url", "TLS with the platform failed: check that the port is for https"],
  ["refused", "url", "no server answers: check the platform's address and port"],
];

/**
 * Returns undefined if the platform accepted this device; otherwise the problem. `host.open` must
 * trust the CAs to test. If `values` contain provisioning, this provisions the device.
 */
export async function checkPlatform(
  host: Host,
  values: Values,
  isSame: boolean,
  deviceName?: string,
): Promise<Finding | undefined> {
  // Continue on an empty stack: creating an agent needs more than is left here.
  await new Promise<void>((resolve) => void host.clock.timer(0, resolve));
  // Without telemetry and firmware.
  const { blocks, slot } = none;
  const checked: Host = { ...host, blocks, slot, store: new CheckStore(host.store, isSame), log: () => {} };
  if (!isSame) discardOtherCheckedToken(host, values);
  let agent: Agent;
  try {
    agent = new Agent(checked, optionsOf(values, deviceName));
  } catch (error) {
    return { field: "url", reason: isMoteError(error) ? error.message : "the settings are invalid" };
  }
  const finding = await askPlatform(agent, values);
  await agent.stop();
  return finding;
}

const optionsOf = ({ url, token, key, secret }: Values, deviceName?: string): AgentOptions => {
  const provisioning = key && secret ? { key, secret, ...(deviceName && { deviceName }) } : undefined;
  return {
    baseUrl: url ?? "",
    connections: 1,
    ...SMALLEST,
    ...(token && { token }),
    ...(provisioning && { provisioning }),
  };
};

const askPlatform = (agent: Agent, { token }: Values): Promise<Finding | undefined> => {
  return new Promise((resolve) => {
    agent.on("refused", ({ what, reason }) => resolve(refusalFinding(what, reason)));
    agent.on("offline", ({ reason }) => resolve(offlineFinding(reason)));
    agent.attributes.read({ clientKeys: ["mote"], timeoutMs: DEADLINE_MS }).then(
      () => resolve(undefined),
      (error) => resolve(readFinding(error, token !== undefined)),
    );
  });
};

/** A device that moves to another CA already exists there: the owner can look up its token. */
const refusalFinding = (what: "token" | "provisioning", reason: string): Finding => {
  if (what === "token") return { field: "token", reason };
  if (reason.includes("wrong")) return { field: "key", reason };
  const advice = "if the platform has this device already, enter its access token";
  return { field: "token", reason: `${reason}; ${advice}` };
};

const offlineFinding = (reason: string): Finding => {
  for (const [said, field, meant] of CAUSES)
    if (reason.includes(said)) return { field, reason: `${meant} (${reason})` };
  return { field: "url", reason: `the platform can't be reached (${reason})` };
};

const readFinding = (error: unknown, isGiven: boolean): Finding => {
  const isRefused = isMoteError(error) && error.code === "REFUSED";
  const reason = isMoteError(error) ? error.message : "unknown";
  if (!isRefused) return { field: "url", reason: `the platform can't be reached (${reason})` };
  return reason.includes("401")
    ? { field: isGiven ? "token" : "key", reason: "the platform does not know the access token (401)" }
    : { field: "url", reason: `the server is not a ThingsBoard platform, or it failed (${reason})` };
};
