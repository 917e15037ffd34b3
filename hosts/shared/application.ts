// What a host gives an application.
import type { DiagnosticsOptions } from "../../extras/diagnostics/index.js";
import type { Agent } from "../../src/index.js";
import type { Host } from "../../src/port.js";

/** What the application gets beside the host. */
export interface AppHost extends Host {
  readonly settings: {
    /** Between two samples, in milliseconds. */
    readonly intervalMs: number;
    /** Of the running firmware. Default: that of the build. */
    readonly version?: string | undefined;
    /** The machine sleeps between two samples, each of which is asked for: see `Agent.runOnce`. */
    readonly sleeps?: boolean | undefined;
  };
  /** What the machine reports of itself. */
  readonly health?: DiagnosticsOptions | undefined;
}

/**
 * Sets the application up; the agent is started afterwards. What it throws ends the run like a crash; after five
 * crashes in ten minutes it is not called. With `cycle` in the configuration it is called at each wake, and the
 * function that it returns takes the sample.
 */
export type Application = (agent: Agent, host: AppHost) => unknown;
