// The agent's options: what each is for, its unit, default and limits; all mistakes told at once.
import { parseTarget, type Target } from "../../net/target.js";
import { checkToken } from "../../wire/paths.js";
import { isObject } from "../../wire/text/json.js";
import { MOST_CONNECTIONS } from "../attributes/polls.js";
import { MoteError } from "../common/errors.js";
import { FIRMWARE, type FirmwareOptions } from "../firmware/firmware.js";
import { CYCLE } from "../lifecycle/sleep-cycle.js";
import { checkRules, isText, type Judge, type Rules, settled } from "./rules.js";
import { TELEMETRY, type TelemetryOptions } from "./telemetry.js";

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
  /**
   * For how long an RPC is remembered whose answer the platform never acknowledged, so that its handler runs once, in ms, restarts and sleep included. Default
   * 86,400,000 (24 h); 600,000 to 2,592,000,000. It ends with the next RPC: what the platform does not hand out then waits no more.
   */
  rememberMs?: number | undefined;
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
  readonly rememberMs: number;
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

const isNeeded: Judge = (value) =>
  typeof value === "string" && value !== "" ? undefined : "is a text that is not empty";
const isNamed: Judge = (value) => (value === undefined ? undefined : isText(value));

const ATTRIBUTES = { answerBytes: [8192, 512, 1_048_576] } as const;
const RPC = {
  requestBytes: [8192, 512, 1_048_576],
  answerBytes: [8192, 512, 65_536],
  rememberMs: [86_400_000, 600_000, 2_592_000_000],
} as const;
const RULES: Rules = {
  baseUrl: (url) => {
    const target = parseTarget(url as string);
    return target.ok ? undefined : target.reason;
  },
  token: (token) => {
    const flaw = token === undefined ? undefined : checkToken(token);
    return flaw && `can't be used: ${flaw}`;
  },
  connections: [2, 1, MOST_CONNECTIONS],
  attributes: ATTRIBUTES,
  rpc: RPC,
  cycle: CYCLE,
  provisioning: { key: isNeeded, secret: isNeeded, deviceName: isNamed },
  telemetry: TELEMETRY,
  firmware: FIRMWARE,
};

/** The options with their defaults; throws `BAD_OPTIONS` with every mistake by name. */
export function checkOptions(options: AgentOptions): CheckedOptions {
  if (!isObject(options)) throw new MoteError("BAD_OPTIONS", "the options are an object");
  const { baseUrl, token, provisioning, connections, attributes, rpc, cycle } = options as AgentOptions;
  const wrong: string[] = [];
  if (token === undefined && provisioning === undefined) wrong.push("either token or provisioning is needed");
  checkRules("", options, RULES, wrong);
  const parsed = parseTarget(baseUrl);
  if (wrong.length > 0 || !parsed.ok) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
  return {
    target: parsed.target,
    connections: connections ?? 2,
    attributes: settled(attributes, ATTRIBUTES),
    rpc: settled(rpc, RPC),
    cycle: settled(cycle, CYCLE),
  };
}
