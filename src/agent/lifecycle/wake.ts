// A wake of a sleeping device, as the application sees it: its options and its result.

/**
 * Result of `sample`: the values of a point or `{ values, alarm }`; undefined or null records
 * nothing. Other members beside `values` are refused.
 */
export type Sample =
  | { [key: string]: unknown; values?: never }
  | { values: Record<string, unknown>; alarm?: boolean }
  | undefined
  | null;

/** Options of `runOnce`. Times in ms. */
export interface WakeOptions {
  /**
   * Time limit of the wake: connections are closed and the promise is resolved. Default 30,000; a
   * download or trial takes up to `cycle.updateMs`.
   */
  timeoutMs?: number | undefined;
  /**
   * Takes a reading, which is recorded as one point.
   *
   * Returns values as for `telemetry.record`, or `{ values, alarm: true }` for a point to be sent
   * now. May be async, within half of the time limit. An exception is logged, and the wake
   * continues without a point.
   */
  sample?: (() => Sample | Promise<Sample>) | undefined;
  /** Connect in this wake even if nothing is due. */
  connect?: boolean | undefined;
  /**
   * Switches the radio on; called only in a wake that connects. False, a rejection or no answer
   * means no network. Default: the network is available.
   */
  network?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * `kept` of the last wake, from memory that survives sleep. If missing or invalid, this is the
   * first wake after power-on. Not needed for the same agent object.
   */
  kept?: string | undefined;
  /**
   * Duration of the sleep by the machine's own clock, if known. Default: the requested duration.
   */
  sleptMs?: number | undefined;
}

/** Result of `runOnce`. */
export interface Wake {
  /** Time until the next wake, in ms of the machine's own clock; at least 100. */
  readonly sleepMs: number;
  /**
   * Why this wake connected or tried to.
   *
   * `start`: first wake after power-on; `schedule`; `outbox`: half full; `alarm`; `asked`: by
   * `connect`; `firmware`: an update or trial continues. `none`: it did not connect.
   */
  readonly reason: "none" | "start" | "schedule" | "outbox" | "alarm" | "asked" | "firmware";
  /** The platform answered the device. */
  readonly connected: boolean;
  /** Nothing was left to do: all delivered, attributes read, no RPC or update pending. */
  readonly idle: boolean;
  /** Number of points delivered in this wake. */
  readonly delivered: number;
  /** Number of points still waiting for delivery. */
  readonly waiting: number;
  /**
   * Points that are lost uncounted at the sleep because neither flash nor store works. Usually 0.
   */
  readonly unkept: number;
  /** Time of network use in ms, including joining. */
  readonly radioMs: number;
  /**
   * Total network time per delivered point since power-on, in ms; undefined before the first point.
   */
  readonly radioMsPerPoint: number | undefined;
  /** Wakes since power-on, including this one. */
  readonly wakes: number;
  /** The agent requested a restart: do not sleep. */
  readonly restarting: boolean;
  /** State for the next wake: ASCII, at most 500 characters, no secret. */
  readonly kept: string;
}
