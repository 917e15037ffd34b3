// What one device of a computed fleet is like, and the way to its platform.
import type { Sizes } from "./sizes.js";

export interface DeviceConfig {
  readonly connections: 1 | 2 | 3;
  /** Between two points. */
  readonly intervalMs: number;
  /** Of a point's values. */
  readonly pointBytes: number;
  readonly batchAgeMs: number;
  readonly batchPoints: number;
  readonly batchBytes: number;
  /** One way. */
  readonly latencyMs: number;
  /** When the platform ends polls, whatever they ask for. */
  readonly pollLimitMs: number;
  /** The network is cut and back, in ms after the start of the day. */
  readonly outage: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly sizes: Sizes;
}
