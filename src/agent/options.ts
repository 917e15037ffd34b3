// The agent's options: what each is for, its unit, default and limits; all mistakes told at once.
import { parseTarget, type Target } from "../net/target.js";
import { checkToken } from "../wire/paths.js";
import { MoteError } from "./errors.js";
import { checkFirmwareOptions, type FirmwareOptions } from "./firmware.js";
import { checkTelemetryOptions, type TelemetryOptions } from "./telemetry-options.js";

export interface ProvisioningOptions {
  /** The device profile's provisioning key (POST /api/v1/provision). */
  key: string;
  /** The device profile's provisioning secret. */
  secret: string;
  /** The device's name, unique on the platform. Default: `mote-` and the host's hardware id. 1 to 255 characters. */
  deviceName?: string | undefined;
}

export interface AttributeOptions {
  /** Longest answer to a look at the attributes, in bytes; a larger group of keys is asked for in parts. Default 8,192; 512 to 1,048,576. */
  answerBytes?: number | undefined;
}

export interface RpcOptions {
  /** Longest server-side RPC, in bytes; a longer one is answered `PARAMS_TOO_LARGE`. Default 8,192; 512 to 1,048,576. */
  requestBytes?: number | undefined;
  /** Longest answer to a server-side RPC, and of a client-side one, in bytes. Default 8,192; 512 to 65,536 (the platform takes no more). */
  answerBytes?: number | undefined;
}

export interface CycleOptions {
  /** From wake to wake, in ms. Default 60,000; 1,000 to 86,400,000. */
  everyMs?: number | undefined;
  /** Every so many wakes one connects. Default 60; 1 to 10,000. */
  connectEvery?: number | undefined;
  /** How long a wake may take that downloads an update, or has a new image on trial, in ms. Default 600,000; 10,000 to 3,600,000. */
  updateMs?: number | undefined;
}

export interface AgentOptions {
  /** Of the platform, `http://` or `https://`, with port and path if need be; `/api/v1/...` is appended. */
  baseUrl: string;
  /** The device's access token. Either this or `provisioning`; with both, the token wins. */
  token?: string | undefined;
  /** How the device gets a token by itself. */
  provisioning?: ProvisioningOptions | undefined;
  /**
   * Connections to the platform: 3: telemetry, RPC poll and attribute poll have one each. 2 (default): shared attributes are read at each end
   * of an RPC poll, every 30 s at least. 1: everything takes turns: what is recorded waits up to 25 s, and the platform loses
   * one-way RPCs sent between two polls.
   */
  connections?: 1 | 2 | 3 | undefined;
  /** The running firmware, and how it is updated. Without it the agent reports no version and takes no update. */
  firmware?: FirmwareOptions | undefined;
  telemetry?: TelemetryOptions | undefined;
  attributes?: AttributeOptions | undefined;
  rpc?: RpcOptions | undefined;
  /** For a device that sleeps between its samples: see `runOnce`. */
  cycle?: CycleOptions | undefined;
}

/** The options with nothing left out. */
export interface AttributeLimits {
  readonly answerBytes: number;
}

/** The options with nothing left out. */
export interface RpcLimits {
  readonly requestBytes: number;
  readonly answerBytes: number;
}

/** The options with nothing left out. */
export interface CycleSettings {
  readonly everyMs: number;
  readonly connectEvery: number;
  readonly updateMs: number;
}

export interface CheckedOptions {
  readonly target: Target;
  readonly connections: 1 | 2 | 3;
  readonly attributes: AttributeLimits;
  readonly rpc: RpcLimits;
  readonly cycle: CycleSettings;
}

/** Names there are; those of telemetry and firmware are checked where they are defined. */
const KNOWN = [
  "baseUrl",
  "token",
  "provisioning",
  "connections",
  "firmware",
  "telemetry",
  "attributes",
  "rpc",
  "cycle",
];
const GROUPS = {
  provisioning: ["key", "secret", "deviceName"],
  attributes: ["answerBytes"],
  rpc: ["requestBytes", "answerBytes"],
  cycle: ["everyMs", "connectEvery", "updateMs"],
} as const;
const BYTES = { default: 8192, least: 512, most: 1_048_576 } as const;
const EVERY = { default: 60_000, least: 1000, most: 86_400_000 } as const;
const CONNECT = { default: 60, least: 1, most: 10_000 } as const;
const UPDATE = { default: 600_000, least: 10_000, most: 3_600_000 } as const;
const ANSWER = { default: 8192, least: 512, most: 65_536 } as const;

/** The options with their defaults; throws `BAD_OPTIONS` with every mistake by name. No value is quoted: it may be a secret. */
export function checkOptions(options: AgentOptions): CheckedOptions {
  if (!isObject(options)) throw new MoteError("BAD_OPTIONS", "the options are an object");
  const wrong: string[] = [];
  checkNames("", options, KNOWN, wrong);
  checkNames("attributes.", options.attributes, GROUPS.attributes, wrong);
  checkNames("rpc.", options.rpc, GROUPS.rpc, wrong);
  checkNames("cycle.", options.cycle, GROUPS.cycle, wrong);
  const target = parseTarget(options.baseUrl);
  if (!target.ok) wrong.push(`baseUrl ${target.reason}`);
  checkIdentity(options, wrong);
  const connections = options.connections ?? 2;
  if (connections !== 1 && connections !== 2 && connections !== 3) wrong.push("connections is 1, 2 or 3");
  const answerBytes = whole("attributes.answerBytes", options.attributes?.answerBytes, BYTES, wrong);
  const requestBytes = whole("rpc.requestBytes", options.rpc?.requestBytes, BYTES, wrong);
  const rpcAnswerBytes = whole("rpc.answerBytes", options.rpc?.answerBytes, ANSWER, wrong);
  const cycle = {
    everyMs: whole("cycle.everyMs", options.cycle?.everyMs, EVERY, wrong),
    connectEvery: whole("cycle.connectEvery", options.cycle?.connectEvery, CONNECT, wrong),
    updateMs: whole("cycle.updateMs", options.cycle?.updateMs, UPDATE, wrong),
  };
  wrong.push(...checkTelemetryOptions(options.telemetry === undefined ? {} : options.telemetry));
  if (options.firmware !== undefined) wrong.push(...checkFirmwareOptions(options.firmware));
  if (wrong.length > 0 || !target.ok) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
  return {
    target: target.target,
    connections,
    attributes: { answerBytes },
    rpc: { requestBytes, answerBytes: rpcAnswerBytes },
    cycle,
  };
}

function checkIdentity(options: AgentOptions, wrong: string[]): void {
  const { token, provisioning } = options;
  if (token === undefined && provisioning === undefined) wrong.push("either token or provisioning is needed");
  const flaw = token === undefined ? undefined : checkToken(token);
  if (flaw !== undefined) wrong.push(`token: ${flaw}`);
  checkNames("provisioning.", provisioning, GROUPS.provisioning, wrong);
  if (!isObject(provisioning)) return;
  const { key, secret, deviceName } = provisioning;
  if (typeof key !== "string" || key === "") wrong.push("provisioning.key is a text that is not empty");
  if (typeof secret !== "string" || secret === "")
    wrong.push("provisioning.secret is a text that is not empty");
  if (deviceName === undefined) return;
  if (typeof deviceName !== "string" || deviceName.trim() === "" || deviceName.length > 255) {
    wrong.push("provisioning.deviceName is a text of 1 to 255 characters");
  }
}

/** Tells members of a group that are no options, and what is no group. */
function checkNames(prefix: string, group: unknown, known: readonly string[], wrong: string[]): void {
  if (group === undefined) return;
  if (!isObject(group)) {
    wrong.push(`${prefix.slice(0, -1)} is an object of options`);
    return;
  }
  for (const name of Object.keys(group)) {
    if (!known.includes(name)) wrong.push(`there is no option "${prefix}${name}"`);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function whole(
  name: string,
  value: number | undefined,
  range: { default: number; least: number; most: number },
  wrong: string[],
): number {
  if (value === undefined) return range.default;
  if (!Number.isInteger(value) || value < range.least || value > range.most) {
    wrong.push(`${name} is a whole number from ${range.least} to ${range.most}`);
  }
  return value;
}
