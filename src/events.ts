import { MoteError } from "./errors.js";
import { guarded } from "./guarded.js";
import type { Host } from "./port.js";

/**
 * State of the agent.
 * - `stopped`
 * - `provisioning`: no access token yet
 * - `connecting`: no answer yet
 * - `online`
 * - `offline`: the platform cannot be reached
 * - `refused`: the platform refuses the token or the provisioning; retried at growing intervals of
 *   up to 10 minutes
 */
export type AgentState = "stopped" | "provisioning" | "connecting" | "online" | "offline" | "refused";

/** Events of `agent.on`, with their details. */
export interface AgentEvents {
  /**
   * The device has its access token. `adopted`: a stored or earlier proposed token. `deviceName`:
   * undefined for a token from the options.
   */
  provisioned: { deviceName: string | undefined; adopted: boolean };
  /**
   * The platform answered a request with the device's token, for the first time or after an outage.
   */
  online: Record<string, never>;
  /**
   * The platform cannot be reached. Emitted once for each reason until the next `online`, at most 8
   * times. Answers 502, 503 and 504 are an outage if nothing else came for 45 s.
   */
  offline: { reason: string };
  /** The platform accepted these points. */
  delivered: { points: number };
  /**
   * Delivery falls behind, or has caught up.
   *
   * `behind`: the platform limits the rate (429, 503 and similar), and points that waited a minute
   * ago are not all delivered. Emitted once, and again with false when delivery has caught up.
   * `points`: number of waiting points.
   */
  delivery: { behind: boolean; points: number };
  /**
   * Points that will never reach the platform, one event per burst. `full`: no room; `refused`:
   * rejected content; `unreadable`: storage failed.
   */
  drop: { points: number; reason: "full" | "refused" | "unreadable" };
  /** Shared attributes that changed for the application, and the `deleted` keys. */
  attributes: { keys: string[]; deleted: string[] };
  /**
   * A server-side RPC. `answered`: the platform accepted the answer. `error`: code of an error
   * answer.
   */
  rpc: { stage: "received" | "answered" | "unanswered"; id: number; method: string; error?: string };
  /** An update. `state`: as in `fw_state`; `progress`: percent of the download. */
  firmware: { state: string; version: string; error?: string; progress?: number };
  /**
   * The platform refuses this device; retried at growing intervals. `token`: 401; `provisioning`:
   * wrong key or secret, a taken name, or the device could not be created.
   */
  refused: { what: "token" | "provisioning"; reason: string };
  /** The agent is about to restart the machine. */
  restart: { reason: string };
  /**
   * An error, each time it occurs. `code`: `lost` (no answer), `busy STATUS` or `refused STATUS`
   * (except polls without news), `fw NAME` (failed update, NAME as in failures.ts), or the code of
   * an error that the application received.
   */
  error: { code: string };
}

/** Name of an event for `Agent.on`. */
export type AgentEvent = keyof AgentEvents;
const NAMES: { readonly [E in AgentEvent]: true } = {
  provisioned: true,
  online: true,
  offline: true,
  delivered: true,
  delivery: true,
  drop: true,
  attributes: true,
  rpc: true,
  firmware: true,
  refused: true,
  restart: true,
  error: true,
};
type Listener = { event: AgentEvent; call: (detail: never) => void };

/**
 * Event listeners. An exception of a listener is logged; it affects neither other listeners nor the
 * agent.
 */
export class Events {
  private readonly _host: Host;
  private readonly _listeners: Listener[] = [];

  constructor(host: Host) {
    this._host = host;
  }

  /**
   * Returns a function that removes the listener. Throws `BAD_VALUE` for an unknown event or a
   * listener that is not a function.
   */
  on<E extends AgentEvent>(event: E, call: (detail: AgentEvents[E]) => void): () => void {
    if (!Object.hasOwn(NAMES, event)) throw new MoteError("BAD_VALUE", "unknown event");
    if (typeof call !== "function")
      throw new MoteError("BAD_VALUE", `the listener of "${event}" must be a function`);
    const listener: Listener = { event, call };
    this._listeners.push(listener);
    return () => {
      const at = this._listeners.indexOf(listener);
      if (at >= 0) this._listeners.splice(at, 1);
    };
  }

  emit<E extends AgentEvent>(event: E, detail: AgentEvents[E]): void {
    for (const listener of this._listeners.slice()) {
      // A call before this one may have removed it.
      if (listener.event !== event || !this._listeners.includes(listener)) continue;
      const call = listener.call as (detail: AgentEvents[E]) => void;
      guarded(this._host, `a listener of "${event}" threw`, () => call(detail));
    }
  }
}
