import { MoteError } from "./errors.js";
import { guarded } from "./guarded.js";
import type { Host } from "./port.js";

/**
 * `stopped`; `provisioning`: no access token yet; `connecting`: no answer yet; `online`; `offline`: the platform can't be reached;
 * `refused`: the platform does not know the token, or refuses to provision; tried again ever more slowly, at last every 10 minutes.
 */
export type AgentState = "stopped" | "provisioning" | "connecting" | "online" | "offline" | "refused";

/** What `agent.on` reports, and with which detail. */
export interface AgentEvents {
  /** The device has its access token. `adopted`: one kept from before, or proposed earlier and found accepted. The name is not known of a token that was given. */
  provisioned: { deviceName: string | undefined; adopted: boolean };
  /** The platform serves the device (again): it took or answered a request with its token. */
  online: Record<string, never>;
  /** The platform can't be reached; emitted once until the next `online`. */
  offline: { reason: string };
  /** The platform took these points. */
  delivered: { points: number };
  /**
   * `behind`: the platform says "not now" (429, 503 and the like), and what waited a minute ago is not all delivered; reported once, and once more when it is again.
   * `points` wait.
   */
  delivery: { behind: boolean; points: number };
  /** Points that will never reach the platform; one event a burst. `full`: no room; `refused`: for their content; `unreadable`: storage failed. */
  drop: { points: number; reason: "full" | "refused" | "unreadable" };
  /** Shared attributes whose value the application now sees differently; `deleted` are the keys that are gone. */
  attributes: { keys: string[]; deleted: string[] };
  /** A server-side RPC. `answered` when the platform took the answer; `error` is the code of an error answer. */
  rpc: { stage: "received" | "answered" | "unanswered"; id: number; method: string; error?: string };
  /** The update: `state` as reported in `fw_state`; `progress` in percent while downloading. */
  firmware: { state: string; version: string; error?: string; progress?: number };
  /** The platform refuses this device: `token` (401) or `provisioning` (wrong key or secret, the name is taken, or the platform could not create the device). It is tried again, ever more slowly. */
  refused: { what: "token" | "provisioning"; reason: string };
  /** The agent is about to restart the machine. */
  restart: { reason: string };
  /**
   * Something went wrong, each time: `lost` (no answer), `busy STATUS` or `refused STATUS` (an answer; polls that bring nothing aside), `fw NAME` (an
   * update failed: NAME as in failures.ts), or the code of an error that the application got.
   */
  error: { code: string };
}

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

/** Listeners, guarded: an exception of one is logged and stops neither the others nor the agent. */
export class Events {
  private readonly _host: Host;
  private readonly _listeners: Listener[] = [];

  constructor(host: Host) {
    this._host = host;
  }

  /** Returns what removes the listener again. Throws `BAD_VALUE` for an event that does not exist, and for what is no function. */
  on<E extends AgentEvent>(event: E, call: (detail: AgentEvents[E]) => void): () => void {
    if (!Object.hasOwn(NAMES, event)) throw new MoteError("BAD_VALUE", "there is no such event");
    if (typeof call !== "function")
      throw new MoteError("BAD_VALUE", `the listener of "${event}" is no function`);
    const listener: Listener = { event, call };
    this._listeners.push(listener);
    return () => {
      const at = this._listeners.indexOf(listener);
      if (at >= 0) this._listeners.splice(at, 1);
    };
  }

  emit<E extends AgentEvent>(event: E, detail: AgentEvents[E]): void {
    for (const listener of this._listeners.slice()) {
      if (listener.event !== event) continue;
      const call = listener.call as (detail: AgentEvents[E]) => void;
      guarded(this._host, `a listener of "${event}" threw`, () => call(detail));
    }
  }
}
