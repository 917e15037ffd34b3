// Keeps a poll for changes of shared attributes open (GET .../attributes/updates?timeout=MS). It
// needs its own connections, the third and fourth.
//
// The platform reports a change to every poll that is open at that moment, and ends them. So the
// next poll opens shortly before the last one ends. The values must be read only after an end that
// may have left a gap: a change, a loss, or a poll that the platform registered too late.

import type { Outcome } from "../../http/outcome.js";
import type { Pacer, PlatformSession } from "../../platform/index.js";
import { POLL_PAUSE_MS } from "../../platform/pace.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { type Notification, parseNotification } from "../../wire/attributes.js";
import { updatesPath } from "../../wire/paths.js";
import type { AttributeLoop } from "./loop.js";
import { READ_EVERY_MS } from "./shared-values.js";

/** Delay between sending a poll and reading the values, so that the poll is registered first. */
export const READ_AFTER_POLL_MS = 500;
/** The next poll opens this long before the last one ends. */
export const ATTRIBUTE_OVERLAP_MS = 3000;
/** A notification may be on its way to a poll for this long when the poll ends. */
const IN_FLIGHT_MS = 1000;

const ROUTES = ["attributePoll", "secondAttributePoll"] as const;
type PollRoute = (typeof ROUTES)[number];

type Change = Exclude<Notification, { kind: "malformed" }>;

/** The change that a poll brought, and how long it waited to be processed. */
export interface PolledChange {
  readonly change: Change;
  readonly waitedMs: number;
}

interface OpenPoll {
  readonly route: PollRoute;
  readonly askedMs: number;
  /** Time when the poll was sent; undefined while it waits for its turn. */
  sentAt: number | undefined;
  /** Another poll brought a change meanwhile, so this one brings the same or an older one. */
  isOutdated: boolean;
}

interface EndedPoll {
  readonly poll: OpenPoll;
  readonly outcome: Outcome;
  readonly endedAt: number;
  readonly tookMs: number;
  /** The platform answered other requests during the poll. */
  readonly heard: boolean;
}

export class AttributePolls {
  private readonly _session: PlatformSession;
  private readonly _timing: PollTiming;
  private readonly _pacer: Pacer;
  private readonly _limit: number;
  private readonly _loop: AttributeLoop;
  /** At most two polls: one that reports changes, and its successor. */
  private _open: OpenPoll[] = [];
  /** Ended polls that are not processed yet, oldest first. */
  private _ended: EndedPoll[] = [];
  /** Every change before this time was read or reported. */
  private _knownUntil = Number.NEGATIVE_INFINITY;
  private _lastWasLost = false;
  /** The last poll brought a change. Consecutive changes have similar response heads. */
  private _lastDelivered = false;
  /** The last poll was rejected, lost or malformed, so the values must be read at intervals. */
  failing = false;

  constructor(session: PlatformSession, timing: PollTiming, limit: number, loop: AttributeLoop) {
    this._session = session;
    this._timing = timing;
    this._pacer = session.pacer("attributePoll");
    this._limit = limit;
    this._loop = loop;
  }

  /** Starts afresh: ignores polls of an earlier start. */
  clear(): void {
    this._open = [];
    this._ended = [];
    this._knownUntil = Number.NEGATIVE_INFINITY;
  }

  /** Every change before `at` is known, because a complete read began then. */
  knownUntil(at: number): void {
    this._knownUntil = Math.max(this._knownUntil, at);
  }

  // Opening polls.

  /** ms until the next poll is due: 0: now; undefined: not before an open poll ends. */
  dueMs(): number | undefined {
    const { pollsAttributes, overlapsAttributePolls } = this._session.connections;
    if (!pollsAttributes || this._open.length > 1) return undefined;
    const only = this._open[0];
    if (!only || only.isOutdated) return 0;
    // A poll that waits for a back-off would keep the next one from opening when this one ends.
    if (only.sentAt === undefined || !overlapsAttributePolls || !this._pacer.free) return undefined;
    return Math.max(0, only.sentAt + only.askedMs - ATTRIBUTE_OVERLAP_MS - this._session.host.clock.now());
  }

  /** Opens a poll if one is due. */
  open(): void {
    if (this.dueMs() !== 0) return;
    const route = ROUTES.find((one) => !this._open.some((poll) => poll.route === one));
    if (!route) return;
    const timing = this._timing;
    const askedMs = this._lastWasLost ? timing.afterLoss(this._session.host) : timing.askedMs;
    const poll: OpenPoll = { route, askedMs, sentAt: undefined, isOutdated: false };
    this._open.push(poll);
    const deadlineMs = timing.deadlineMs - timing.askedMs + askedMs;
    // The back-off of the poll may still run while the uplink is free.
    void this._pacer.ready().then(() => this._open.includes(poll) && this._send(poll, deadlineMs));
  }

  /** The open poll that reports changes: it was sent, and none was reported since. */
  private get _reportingPoll(): OpenPoll | undefined {
    return this._open.find(({ sentAt, isOutdated }) => sentAt !== undefined && !isOutdated);
  }

  private _send(poll: OpenPoll, deadlineMs: number): void {
    const { clock } = this._session.host;
    const queuedAt = clock.now();
    const request = {
      method: "GET",
      path: updatesPath(poll.askedMs),
      deadlineMs,
      limit: this._limit,
      repeatable: true,
      isPoll: true,
      alike: this._lastDelivered,
      sent: () => {
        // A poll that the connection sends again no longer overlaps the one before it.
        const overlaps = poll.sentAt === undefined && this._reportingPoll !== undefined;
        poll.sentAt = clock.now();
        if (!overlaps) this._loop.readSoon(READ_AFTER_POLL_MS);
        this._loop.notify();
      },
    } as const;
    this._session.dispatch(poll.route, request, undefined, (outcome) => this._end(poll, queuedAt, outcome));
  }

  private _end(poll: OpenPoll, queuedAt: number, outcome: Outcome): void {
    const index = this._open.indexOf(poll);
    // Ignore a poll from before a stop.
    if (index < 0) return;
    this._open.splice(index, 1);
    const sentAt = poll.sentAt ?? queuedAt;
    const endedAt = this._session.host.clock.now();
    const heard = this._session.heard(sentAt);
    this._ended.push({ poll, outcome, endedAt, tookMs: endedAt - sentAt, heard });
    // Every open poll gets the same change, and maybe later than a newer one.
    if (outcome.kind === "done" && !poll.isOutdated)
      this._open.forEach((other) => {
        other.isOutdated = true;
      });
    // One idle connection is enough, and the next poll takes the first channel if that is free.
    const isSecond = poll.route === "secondAttributePoll";
    if (isSecond || this._open.some(({ isOutdated }) => !isOutdated))
      this._session.connections.hangUp(poll.route);
    this._loop.notify();
  }

  // Processing ended polls.

  /** True if an ended poll is not processed yet. */
  get hasEnded(): boolean {
    return this._ended.length > 0;
  }

  /** True if a poll brought a change that is not processed yet. */
  get hasChange(): boolean {
    return this._ended.some(({ outcome }) => outcome.kind === "done");
  }

  /**
   * Processes the next ended poll, and schedules a read if a change may have been missed. Returns
   * the change that the poll brought, unless it is outdated.
   */
  processEnded(): PolledChange | undefined {
    const ended = this._ended.shift();
    if (!ended) return undefined;
    const { poll, outcome, endedAt, tookMs, heard } = ended;
    const waitedMs = this._session.host.clock.now() - endedAt;
    const verdict = this._timing.pollEnded(outcome, tookMs, heard, poll.askedMs);
    if (poll.isOutdated) {
      if (verdict === "delivered") this._readOnceRegistered();
      return undefined;
    }
    this._lastWasLost = verdict === "lost";
    this._lastDelivered = verdict === "delivered";
    this.failing = verdict === "busy" || verdict === "lost";
    if (verdict === "ended") this._pacer.clear();
    if (verdict === "busy") this._pacer.slow();
    // The platform counts from the arrival of the poll, so the poll did not end before this.
    if (verdict === "ended" && this._missedNothing(ended))
      this.knownUntil(endedAt - tookMs + poll.askedMs - IN_FLIGHT_MS);
    else this._readOnceRegistered();
    const isDelivered = verdict === "delivered" && outcome.kind === "done";
    const change = isDelivered ? this._parse(outcome, tookMs) : undefined;
    if (this.failing) this._loop.readSoon(READ_EVERY_MS);
    return change && { change, waitedMs };
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
    const sentAt = this._reportingPoll?.sentAt;
    if (sentAt === undefined) return;
    this._loop.readSoon(Math.max(0, sentAt + READ_AFTER_POLL_MS - this._session.host.clock.now()));
  }

  /** The change in the answer to a poll; undefined if the answer is malformed. */
  private _parse({ body, whole }: Outcome & { kind: "done" }, tookMs: number): Change | undefined {
    const change = parseNotification((whole && this._session.host.decode(body)) || "");
    if (
      change.kind === "malformed" ||
      (change.kind === "updated" && Object.keys(change.values).length === 0)
    ) {
      if (whole) this._session.counters.countMalformed("a notification of shared attributes");
      this._pacer.slow();
      this.failing = true;
      return undefined;
    }
    this._pacer.clear();
    if (tookMs < POLL_PAUSE_MS) this._pacer.pause(POLL_PAUSE_MS - tookMs);
    return change;
  }
}
