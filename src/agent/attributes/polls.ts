// Polls for changes of shared attributes (GET .../attributes/updates?timeout=MS). They need their
// own connections, the third and fourth.
//
// The platform reports a change to every poll that is open at that moment, and ends them. The
// values must be read only after an end that may have left a gap: a change, a loss, or a poll that
// the platform registered too late.

import type { Outcome } from "../../http/outcome.js";
import type { Loop, PlatformSession } from "../../platform/index.js";
import { type EndedPoll, LongPoll } from "../../platform/long-poll.js";
import { POLL_PAUSE_MS } from "../../platform/pace.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { type Change, parseNotification } from "../../wire/attributes.js";

/** Interval of reads without an attribute poll. */
export const READ_EVERY_MS = 30_000;
/** Delay between sending a poll and reading the values, so that the poll is registered first. */
const READ_AFTER_POLL_MS = 500;
/** A notification may be on its way to a poll for this long when the poll ends. */
const IN_FLIGHT_MS = 1000;

export class AttributePolls extends LongPoll {
  private readonly _readSoon: (inMs: number) => void;
  /** Every change before this time was read or reported. */
  private _knownUntil = Number.NEGATIVE_INFINITY;
  /** The last poll was rejected, lost or malformed, so the values must be read at intervals. */
  failing = false;

  /** `readSoon` is called when the values must be read in so many ms. */
  constructor(
    session: PlatformSession,
    timing: PollTiming,
    limit: number,
    loop: Loop,
    readSoon: (inMs: number) => void,
  ) {
    super(session, timing, "attributes", limit, loop, (overlaps) => {
      if (!overlaps) readSoon(READ_AFTER_POLL_MS);
      loop.notify();
    });
    this._readSoon = readSoon;
  }

  /** Every change before `at` is known, because a complete read began then. */
  knownUntil(at: number): void {
    this._knownUntil = Math.max(this._knownUntil, at);
  }

  /**
   * Processes an ended poll, and schedules a read if a change may have been missed. Returns
   * the change that the poll brought, unless it is outdated.
   */
  processEnded(ended: EndedPoll): Change | undefined {
    const { poll, outcome, verdict, endedAt, tookMs } = ended;
    this.processed(poll);
    if (poll.isOutdated) {
      if (verdict === "delivered") this._readOnceRegistered();
      return undefined;
    }
    this.failing = verdict === "busy" || verdict === "lost";
    // The platform counts from the arrival of the poll, so the poll did not end before this.
    if (verdict === "ended" && this._missedNothing(ended))
      this.knownUntil(endedAt - tookMs + poll.askedMs - IN_FLIGHT_MS);
    else this._readOnceRegistered();
    const isDelivered = verdict === "delivered" && outcome.kind === "done";
    const change = isDelivered ? this._parse(outcome, tookMs) : undefined;
    if (this.failing) this._readSoon(READ_EVERY_MS);
    return change;
  }

  /**
   * True if the platform kept the poll open for the whole time, and every change before the poll
   * was registered is known.
   */
  private _missedNothing({ poll, outcome, endedAt, tookMs }: EndedPoll): boolean {
    const ranFullTime = outcome.kind === "busy" && outcome.status === 408 && tookMs >= poll.askedMs;
    const registeredBy = endedAt - poll.askedMs;
    return ranFullTime && registeredBy <= this._knownUntil;
  }

  /** Reads the values once an open poll is registered. A poll sent later reads by itself. */
  private _readOnceRegistered(): void {
    const { reporting } = this;
    if (reporting) this._readSoon(Math.max(0, reporting.since + READ_AFTER_POLL_MS - this.now));
  }

  /** The change in the answer to a poll; undefined if the answer is malformed. */
  private _parse({ body, whole }: Outcome & { kind: "done" }, tookMs: number): Change | undefined {
    const change = parseNotification((whole && this.session.host.decode(body)) || "");
    if (!change) {
      if (whole) this.session.counters.countMalformed("a notification of shared attributes");
      this.pacer.slow();
      this.failing = true;
      return undefined;
    }
    this.pacer.clear();
    if (tookMs < POLL_PAUSE_MS) this.pacer.pause(POLL_PAUSE_MS - tookMs);
    return change;
  }
}
