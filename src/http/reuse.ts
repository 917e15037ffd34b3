// Decides whether a request uses the open connection, and whether it is sent again on a new one.
//
// The peer may close an idle connection at any moment, and a NAT or load balancer forgets it
// without a word: then nothing ever arrives on it, and no socket says so. So an idle connection is
// trusted less the longer it is idle, and less for a request that must not be sent twice:
//
// | idle | repeatable | a poll | not repeatable |
// |---|---|---|---|
// | up to 5 s | used | used | used |
// | up to 30 s | used | used | new connection |
// | longer | used, sent again after 5 s of silence | new connection | new connection |
//
// So a device that sends each minute keeps one connection, and a dead one costs 5 s instead of the
// whole deadline. A poll gets a new one, because its silence is normal; polls follow each other, so
// this happens only after a back-off. 30 s covers each minute's request, and is longer than the
// pauses between requests of a busy device.

import type { Channel } from "./channel.js";
import type { Request } from "./request.js";

const FRESH_MS = 5000;
const AGED_MS = 30_000;
const SILENCE_MS = 5000;
/** A body takes its time on a slow line: this many bytes per ms. */
const SLOW_LINE = 2;

/** True if a request may use a connection that was idle for `idleMs`. */
export const mayReuse = ({ repeatable, isPoll }: Request, idleMs: number): boolean =>
  idleMs <= FRESH_MS || (repeatable && (idleMs <= AGED_MS || !isPoll));

/**
 * ms from sending a request to the first byte of its answer, after which the connection counts as
 * dead; undefined if only the deadline counts. `slowMs`: time of the last answer to a request that
 * was sent again, because a slow platform must not get each request twice.
 */
export const silenceLimit = ({ body }: Request, idleMs: number, slowMs: number): number | undefined =>
  idleMs <= AGED_MS ? undefined : Math.max(SILENCE_MS, 2 * slowMs) + (body?.length ?? 0) / SLOW_LINE;

/**
 * True if a request whose channel ended may be sent again: it was not read, or may be read twice.
 */
export const mayRepeat = ({ repeatable }: Request, channel: Channel | undefined): boolean =>
  !channel || channel.handed === 0 || (repeatable && !channel.answering);
