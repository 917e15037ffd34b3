// The agent's options and their validation. All mistakes are reported at once.

import { MoteError } from "../errors.js";
import { parseTarget, type Target } from "../http/target.js";
import { checkToken } from "../wire/paths.js";
import { isObject } from "../wire/text/json.js";
import { ATTRIBUTES, type AttributeLimits, type AttributeOptions } from "./attributes/options.js";
import { FIRMWARE, type FirmwareOptions } from "./firmware/options.js";
import { CYCLE, type CycleOptions, type CycleSettings } from "./lifecycle/options.js";
import { PROVISIONING, type ProvisioningOptions } from "./provisioning/options.js";
import { TELEMETRY, type TelemetryOptions } from "./queue/options.js";
import { RPC, type RpcLimits, type RpcOptions } from "./rpc/options.js";
import { checkRules, type Rules, withDefaults } from "./rules.js";

/** Options of an agent. The constructor throws `BAD_OPTIONS` with all mistakes at once. */
export interface AgentOptions {
  /**
   * URL of the platform, `http://` or `https://`, with optional port and path; `/api/v1/...` is
   * appended.
   */
  baseUrl: string;
  /**
   * Access token of the device. Either this or `provisioning` is required; the token takes
   * precedence.
   */
  token?: string | undefined;
  /** How the device obtains a token by itself. */
  provisioning?: ProvisioningOptions | undefined;
  /**
   * Number of connections to the platform, 1 to 3.
   *
   * - 3 (default): telemetry, RPC poll and attribute poll have one each. While polls overlap, up to
   *   two more are open for a few seconds.
   * - 2: no attribute poll; shared attributes are read every 30 s.
   * - 1: requests take turns. Points wait up to 25 s, and the platform loses one-way RPCs sent
   *   between two polls.
   *
   * A board over https defaults to the number that its memory plan allows.
   */
  connections?: 1 | 2 | 3 | undefined;
  /**
   * The running firmware and its updates. Without it, no version is reported and no update
   * accepted.
   */
  firmware?: FirmwareOptions | undefined;
  /** Batches, memory and the durable queue of telemetry. */
  telemetry?: TelemetryOptions | undefined;
  /** Limits of attributes. */
  attributes?: AttributeOptions | undefined;
  /** Limits of RPC. */
  rpc?: RpcOptions | undefined;
  /** Options of a device that sleeps between samples, see `runOnce`. */
  cycle?: CycleOptions | undefined;
}

export interface CheckedOptions {
  readonly target: Target;
  readonly connections: 1 | 2 | 3;
  readonly attributes: AttributeLimits;
  readonly rpc: RpcLimits;
  readonly cycle: CycleSettings;
}

/** Maximum and default of `connections`. */
const MOST_CONNECTIONS = 3;

const RULES: Rules = {
  token: (token) => {
    const problem = token === undefined ? undefined : checkToken(token);
    return problem && `is invalid: ${problem}`;
  },
  connections: [MOST_CONNECTIONS, 1, MOST_CONNECTIONS],
  attributes: ATTRIBUTES,
  rpc: RPC,
  cycle: CYCLE,
  provisioning: PROVISIONING,
  telemetry: TELEMETRY,
  firmware: FIRMWARE,
};

/** Adds defaults to the options. Throws `BAD_OPTIONS` with every mistake by name. */
export const checkOptions = (options: AgentOptions): CheckedOptions => {
  if (!isObject(options)) throw new MoteError("BAD_OPTIONS", "the options must be an object");
  const { baseUrl, token, provisioning, connections, attributes, rpc, cycle, firmware } =
    options as AgentOptions;
  const wrong: string[] = [];
  if (token === undefined && provisioning === undefined)
    wrong.push("either token or provisioning is required");
  const parsed = parseTarget(baseUrl);
  checkRules("", options, { baseUrl: () => (parsed.ok ? undefined : parsed.reason), ...RULES }, wrong);
  const settings = withDefaults<CycleSettings>(cycle, CYCLE);
  const { trialMs = FIRMWARE.trialMs[0] } = firmware ?? {};
  // The wake of a trial has half of its time to reach the platform.
  if (cycle && firmware && settings.updateMs < 2 * trialMs)
    wrong.push("cycle.updateMs must be at least twice firmware.trialMs");
  if (wrong.length > 0 || !parsed.ok) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
  return {
    target: parsed.target,
    connections: connections ?? MOST_CONNECTIONS,
    attributes: withDefaults(attributes, ATTRIBUTES),
    rpc: withDefaults(rpc, RPC),
    cycle: settings,
  };
};
