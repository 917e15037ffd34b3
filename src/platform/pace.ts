// How long a route waits after each outcome of a request, and how many requests it may send. Waits
// for another reason, such as a failed store or an assignment that may still change, stand where
// they happen.
//
// | outcome | who waits | how long |
// |---|---|---|
// | done | nobody | |
// | lost, and nothing else was answered since | the whole device | `unreachable` |
// | lost, while others were answered | the route | `busy` |
// | a poll lost at once, again, and others were answered between | the route | `busy` |
// | lost with its body, again and again (body-sender.ts) | the route | `LOST_BODY_MS` |
// | busy: 408, 429, 5xx; an answer that makes no sense | the route | `busy`, or Retry-After |
// | refused: 4xx, 500 with a text | the route | `busy`; telemetry `refused` |
// | 401; wrong provisioning key | the whole device | `unknown`, stored over restarts |
// | device not created | the whole device | `notCreated`, stored over restarts |
//
// A poll that lasted at least half of its time is no failure. Whatever the answers are, no route
// exceeds its budget.

import type { Host } from "../port.js";

/**
 * The longest wait in seconds after the first outcome of its kind, the second, and so on. Each wait
 * is random up to it, so that devices that lost the platform together return spread out. At the end
 * of the list each wait is the last one ± 10 %, and the devices stay spread out.
 */
export const WAITS_S = {
  unreachable: [1, 2, 4, 8, 16, 32, 64, 128, 256, 300],
  busy: [1, 2, 4, 8, 16, 32, 64, 128, 256, 300],
  /** Attributes are read every 30 s, so changes are seen within a minute after an outage. */
  busyAttributes: [1, 2, 4, 8, 16, 32, 55],
  refused: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600],
  unknown: [1, 2, 5, 10, 30, 60, 120, 300, 540],
  /** Starts slower, because load can cause it. */
  notCreated: [5, 15, 30, 60, 120, 300, 540],
} as const;

export type Waits = readonly number[];

/** A Retry-After cannot shorten a wait below this (or below the own wait, if that is shorter). */
export const RETRY_AFTER_FLOOR_MS = 10_000;
/** Waits after the first, second and each further loss of the same body. */
export const LOST_BODY_MS = [1000, 1000, 5000] as const;
/** Minimum time between two polls that bring the same RPC, or a change at once. */
export const POLL_PAUSE_MS = 500;
/** Lower bound, even if random() returns zeros. */
const MIN_MS = 100;

/** How fast a route may ask, and how long it waits. */
export interface Pace {
  /** Number of requests that may be sent at once. */
  readonly burst: number;
  /** Number of requests per minute after that. */
  readonly perMinute: number;
  /** Accepted requests do not count, because the device decides their number. */
  readonly acceptedAreFree?: boolean;
  /** A request that brought this number of bytes does not count. */
  readonly freeBytes?: number;
  readonly waits: Waits;
  /** For refused bodies; default: `waits`. */
  readonly refused?: Waits;
}

/** At most `burst + perMinute` requests in a minute, whatever the platform answers. */
export const PACES = {
  telemetry: {
    ...{ burst: 60, perMinute: 60, acceptedAreFree: true },
    ...{ waits: WAITS_S.busy, refused: WAITS_S.refused },
  },
  /** Reads, publications and probes. A read follows each change, at most twice a second. */
  attributes: { burst: 60, perMinute: 240, waits: WAITS_S.busyAttributes },
  attributePoll: { burst: 60, perMinute: 120, waits: WAITS_S.busy },
  /** An operator's script: 1,000 RPCs at full speed, then 50 a second; and their answers. */
  rpcPoll: { burst: 1000, perMinute: 3000, waits: WAITS_S.busy },
  /** `attributes.read`, `rpc.call` and `claim`. */
  application: { burst: 60, perMinute: 60, acceptedAreFree: true, waits: WAITS_S.busy },
  provisioning: { burst: 10, perMinute: 30, waits: WAITS_S.busy },
  firmware: { burst: 60, perMinute: 60, freeBytes: 1024, waits: WAITS_S.busy },
} as const satisfies Record<string, Pace>;

export type PaceName = keyof typeof PACES;

/**
 * The wait after outcome number `count` (from 0) in whole ms. `tookMs`: time that the attempt
 * waited before it timed out. Such attempts end for all devices at the same time, so the wait is
 * random over at least that time; otherwise the devices stay in step.
 */
export const waitMs = (host: Pick<Host, "random">, waits: Waits, count: number, tookMs = 0): number => {
  const fraction = random01(host);
  const longestMs = (waits[waits.length - 1] as number) * 1000;
  const ms =
    count >= waits.length
      ? longestMs * (0.9 + 0.2 * fraction)
      : Math.min(longestMs, Math.max((waits[count] as number) * 1000, tookMs)) * fraction;
  return Math.max(MIN_MS, Math.round(ms));
};

/** A random number from 0 to 1 (exclusive), with 24 bits. */
export const random01 = (host: Pick<Host, "random">): number => {
  // Calls are rare, so the buffer is not kept.
  const bytes = new Uint8Array(4);
  host.random(bytes);
  return (((bytes[0] as number) * 256 + (bytes[1] as number)) * 256 + (bytes[2] as number)) / 2 ** 24;
};
