// Options of telemetry.
import { withDefaults } from "../rules.js";

/** Batches, memory and the durable queue of telemetry. */
export interface TelemetryOptions {
  /**
   * Origin of the points' time stamps: `device` (default) or `platform`.
   *
   * - `device`: the time of recording in ms, unique per point. Points wait until the time is known,
   *   from the host or from the `Date` of the platform's first answer.
   * - `platform`: the time of arrival. Each point is a request of its own, because the platform
   *   gives all points of a request the same time stamp.
   *
   * A `ts` given to `record` applies in both cases.
   */
  timestamps?: "device" | "platform" | undefined;
  /** Maximum number of points in one request. Default 50; 1 to 1,000. */
  batchPoints?: number | undefined;
  /**
   * Maximum size of one request in bytes; `record` rejects a larger point. Default 8,192; 512 to
   * 1,048,576.
   */
  batchBytes?: number | undefined;
  /**
   * Maximum time that a point waits for others to share its request, in ms. Default 1,000; 0 to
   * 3,600,000.
   */
  batchAgeMs?: number | undefined;
  /**
   * Memory for waiting points in bytes, allocated at once. With a durable queue, it holds points
   * not yet on flash. Default 16,384; 1,024 to 16,777,216.
   */
  bufferBytes?: number | undefined;
  /**
   * Whether a point is on flash when `record` returns. Default true if the host has blocks.
   *
   * False: a point is on flash after at most 1 s or 4 KiB, unless it was delivered before; while
   * the queue is full and `drop` is "newest", 4 KiB wait in memory. Without blocks, points are
   * always in memory only.
   */
  durable?: boolean | undefined;
  /**
   * Points to drop when the queue is full: `oldest` (default; on flash, those of the oldest sector)
   * or `newest` (`record` returns false).
   */
  drop?: "oldest" | "newest" | undefined;
}

/** The options, complete with defaults. */
export interface TelemetrySettings {
  readonly timestamps: "device" | "platform";
  readonly batchPoints: number;
  readonly batchBytes: number;
  readonly batchAgeMs: number;
  readonly bufferBytes: number;
  readonly durable: boolean;
  readonly drop: "oldest" | "newest";
}

/** Validation rules and defaults. */
export const TELEMETRY = {
  timestamps: ["device", "platform"],
  batchPoints: [50, 1, 1000],
  batchBytes: [8192, 512, 1_048_576],
  batchAgeMs: [1000, 0, 3_600_000],
  bufferBytes: [16_384, 1024, 16_777_216],
  durable: [true, false],
  drop: ["oldest", "newest"],
} as const;

/** `options` with defaults for missing ones. */
export const telemetrySettings = (options: TelemetryOptions): TelemetrySettings =>
  withDefaults(options, TELEMETRY);
