import type { AgentOptions, LastRun } from "../../src/index.js";

/** Settings that the supervisor writes before each start (tools/moddable/simulator/device.ts). */
export interface SimulatorSettings {
  /** Without functions such as `firmware.selfTest`, because it is JSON. */
  readonly agent: AgentOptions;
  /** Interval between two samples of the application, in ms. */
  readonly intervalMs: number;
  /** CA certificates, DER in base64. */
  readonly authorities: readonly string[];
  readonly lastRun: LastRun;
  /** Identifies the running image. */
  readonly image: string;
  /** Loopback port of the supervisor; data from it requests an orderly end. */
  readonly control: number;
}
