import type { WaitOptions } from "../../platform/wait.js";
import type { Drops } from "../queue/record.js";
import type { Flushed } from "./flush-queue.js";

/** Telemetry, usable at any time: before `start()` and while offline too. */
export interface TelemetryApi {
  /**
   * Records a point of telemetry (POST /api/v1/{token}/telemetry).
   *
   * It is delivered at least once and in order, or counted by the event `drop`.
   * - `values`: values by key: string, boolean, finite number, 64-bit BigInt, or JSON of at most 32
   *   levels.
   * - `ts`: milliseconds since 1970, 13 digits; default: now.
   *
   * A value that JSON or the platform cannot hold (NaN, null, undefined) or that does not fit into
   * one request is left out. It is counted by `counters.leftOut` and the event `error`, and its key
   * is logged once. An array gets null in its place.
   *
   * Returns false if no value is left, and if the queue is full and the option `drop` is
   * `"newest"`. Throws `BAD_VALUE` if `values` is not an object, for an invalid `ts`, and for the
   * keys `ts` and `values` in one point.
   */
  record(values: Record<string, unknown>, options?: { readonly ts?: number | undefined }): boolean;

  /**
   * Returns the JSON text, as UTF-8, that `record` would record; undefined if no value is left.
   * Counts nothing. Throws like `record`.
   */
  check(values: Record<string, unknown>): Uint8Array | undefined;

  /** Number of points that are not delivered yet. */
  readonly waiting: number;

  /**
   * Dropped points by reason, since the durable queue was created or, without one, since the agent
   * was.
   */
  readonly dropped: Readonly<Drops>;

  /**
   * Sends the waiting points now, without waiting for full batches.
   *
   * Resolves with the number of them that were delivered, dropped, and still wait: once none waits,
   * after `timeoutMs` (default 30,000), on abort, on `stop()`, and at once if the agent is stopped.
   * Rejects with `BAD_VALUE` for an invalid `timeoutMs`.
   */
  flush(options?: WaitOptions): Promise<Flushed>;
}
