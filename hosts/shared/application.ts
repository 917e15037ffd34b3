// What a host passes to an application.
import type { DiagnosticsOptions } from "../../extras/diagnostics/index.js";
import type { Agent } from "../../src/index.js";
import type { Host } from "../../src/port.js";

/** Values passed beside the host. */
export interface AppHost extends Host {
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
