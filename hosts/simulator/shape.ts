import type { AgentOptions, LastRun } from "../../src/index.js";

/** What the supervisor writes beside the device's files before each start (tools/moddable/simulator/device.ts). */
export interface Settings {
  /** Without `firmware.selfTest` and the like: it went through JSON. */
  readonly agent: AgentOptions;
  /** Between two samples of the application, in milliseconds. */
  readonly intervalMs: number;
  /** Certificates of authorities, DER in base64. */
  readonly authorities: readonly string[];
  readonly lastRun: LastRun;
  /** Distinguishes the image that runs from others. */
  readonly image: string;
  /** On loopback, where the supervisor listens: what it sends there asks for an end in good order. */
  readonly control: number;
}
