// The agent's options: what each is for, its unit, default and limits; all mistakes reported at once.

import { MoteError } from "../../errors.js";
import { parseTarget, type Target } from "../../http/target.js";
import { checkToken } from "../../wire/paths.js";
import { isObject } from "../../wire/text/json.js";
import { MOST_CONNECTIONS } from "../attributes/attributes.js";
import { FIRMWARE, type FirmwareOptions } from "../firmware/firmware.js";
import { CYCLE } from "../lifecycle/index.js";
import { ATTRIBUTES, type AttributeLimits, type AttributeOptions } from "./attributes.js";
import { PROVISIONING, type ProvisioningOptions } from "./provisioning.js";
import { RPC, type RpcLimits, type RpcOptions } from "./rpc.js";
import { checkRules, type Rules, withDefaults } from "./rules.js";
import type { CycleOptions, CycleSettings } from "./sleep-cycle.js";
import { TELEMETRY, type TelemetryOptions } from "./telemetry.js";

export interface AgentOptions {
  /** Of the platform, `http://` or `https://`, with port and path if need be; `/api/v1/...` is appended. */
  baseUrl: string;
  /** The device's access token. Either this or `provisioning`; with both, the token wins. */
  token?: string | undefined;
  /** How the device gets a token by itself. */
  provisioning?: ProvisioningOptions | undefined;
  /**
   * Connections to the platform: 3 (default): telemetry, RPC poll and attribute poll have one each. 2 (default of the lean build): no attribute
   * poll: shared attributes are read every 30 s. 1: everything takes turns: what is recorded waits up to 25 s, and the platform loses one-way
   * RPCs sent between two polls. A board over https has as many by default as its memory plan allows.
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

export interface CheckedOptions {
  readonly target: Target;
  readonly connections: 1 | 2 | 3;
  readonly attributes: AttributeLimits;
  readonly rpc: RpcLimits;
  readonly cycle: CycleSettings;
}

const RULES: Rules = {
  baseUrl: (url) => {
    const target = parseTarget(url as string);
    return target.ok ? undefined : target.reason;
  },
  token: (token) => {
    const problem = token === undefined ? undefined : checkToken(token);
    return problem && `can't be used: ${problem}`;
  },
  connections: [MOST_CONNECTIONS, 1, MOST_CONNECTIONS],
  attributes: ATTRIBUTES,
  rpc: RPC,
  cycle: CYCLE,
  provisioning: PROVISIONING,
  telemetry: TELEMETRY,
  firmware: FIRMWARE,
};

/** The options with their defaults; throws `BAD_OPTIONS` with every mistake by name. */
export const checkOptions = (options: AgentOptions): CheckedOptions => {
  if (!isObject(options)) throw new MoteError("BAD_OPTIONS", "the options are an object");
  const { baseUrl, token, provisioning, connections, attributes, rpc, cycle } = options as AgentOptions;
  const wrong: string[] = [];
  if (token === undefined && provisioning === undefined) wrong.push("either token or provisioning is needed");
  checkRules("", options, RULES, wrong);
  const parsed = parseTarget(baseUrl);
  if (wrong.length > 0 || !parsed.ok) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
  return {
    target: parsed.target,
    connections: connections ?? MOST_CONNECTIONS,
    attributes: withDefaults(attributes, ATTRIBUTES),
    rpc: withDefaults(rpc, RPC),
    cycle: withDefaults(cycle, CYCLE),
  };
};
