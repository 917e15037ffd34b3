// What a machine passes to an application.
import type { DiagnosticsOptions } from "../../extras/diagnostics/index.js";
import type { Agent } from "../../src/index.js";
import type { Host, Store } from "../../src/port.js";

type Shared =
  | "clock"
  | "digest"
  | "encode"
  | "decode"
  | "random"
  | "hardwareId"
  | "log"
  | "conceal"
  | "lastRun"
  | "restart";

/**
 * The machine, as far as an application may use it.
 *
 * Sockets, the firmware slot, the durable queue and secrets are reserved for the agent.
 * `ReportOnChange` needs no more than this.
 */
export interface AppHost extends Pick<Host, Shared> {
  /**
   * Small values that survive restarts: keys of at most 15 characters, values of at most 4,000
   * bytes.
   *
   * The agent's values, such as the access token, cannot be reached: for their keys `get` returns
   * undefined, `set` and `delete` return false, and a warning is logged. A reset of the device
   * keeps the application's values. `mote/diagnostics` uses the key "health",
   * `mote/report-on-change` the keys "reported" and "alarms".
   */
  readonly store: Store;
  readonly settings: {
    /** Interval between two samples, in ms. */
    readonly intervalMs: number;
    /** Version of the running firmware. Default: that of the build. */
    readonly version?: string | undefined;
    /** The machine sleeps between samples, which are requested one by one: see `Agent.runOnce`. */
    readonly sleeps?: boolean | undefined;
  };
  /** Values that the machine reports about itself. */
  readonly health?: DiagnosticsOptions | undefined;
}

/**
 * Sets up the application, before the agent starts. An exception counts as a crash; after five
 * crashes in ten minutes it is not called. With `cycle` in the configuration, it is called at each
 * wake and returns the function that takes the sample.
 */
export type Application = (agent: Agent, host: AppHost) => unknown;
