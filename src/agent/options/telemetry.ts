// The options of telemetry: purpose, unit, default, limits.
import { withDefaults } from "./rules.js";

export interface TelemetryOptions {
  /**
   * Whose time stamps points have. `device` (default): when they were recorded, to the millisecond, each its own; they wait until the
   * time is known, from the host or from the `Date` of the platform's first answer. `platform`: when they
   * arrived; points of one key then never share a batch, since a batch has one time stamp: of a backlog with the same keys each point is a
   * request of its own. A `ts` given to `record` holds with both.
   */
  timestamps?: "device" | "platform" | undefined;
  /** Most points in one request. Default 50; 1 to 1,000. */
  batchPoints?: number | undefined;
  /** Most bytes in one request; a point that does not fit is refused by `record`. Default 8,192; 512 to 1,048,576. */
  batchBytes?: number | undefined;
  /** How long a point waits for others to share a request with, in ms. Default 1,000; 0 to 3,600,000. */
  batchAgeMs?: number | undefined;
  /** Memory for points waiting, in bytes, taken at once. With blocks it serves until points are on flash, and if the blocks fail. Default 16,384; 1,024 to 16,777,216. */
  bufferBytes?: number | undefined;
  /**
   * Whether a point is in the host's blocks when `record` returns. Default: true if the host has blocks. False with blocks: it is there after
   * 1 s or 4 KiB at the latest, unless it was delivered before; while the blocks are full and `drop` is "newest", 4 KiB wait in memory for room. Without blocks points are in memory only, whatever is said here.
   */
  durable?: boolean | undefined;
  /** Which points go when there is no room: `oldest` (default; with blocks, those of the oldest sector) or `newest` (`record` returns false). */
  drop?: "oldest" | "newest" | undefined;
}

/** The options with nothing left out. */
export interface TelemetrySettings {
  readonly timestamps: "device" | "platform";
  readonly batchPoints: number;
  readonly batchBytes: number;
  readonly batchAgeMs: number;
  readonly bufferBytes: number;
  readonly durable: boolean;
  readonly drop: "oldest" | "newest";
}

/** What each may be. */
export const TELEMETRY = {
  timestamps: ["device", "platform"],
  batchPoints: [50, 1, 1000],
  batchBytes: [8192, 512, 1_048_576],
  batchAgeMs: [1000, 0, 3_600_000],
  bufferBytes: [16_384, 1024, 16_777_216],
  durable: [true, false],
  drop: ["oldest", "newest"],
} as const;

/** `options` with the defaults for what is left out. */
export const telemetrySettings = (options: TelemetryOptions): TelemetrySettings =>
  withDefaults(options, TELEMETRY);
