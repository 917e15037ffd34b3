// Keeps a poll open: a request that the platform answers when it has something, or after a while.
//
// What happens while no poll is open is lost or not reported. So with enough connections the next
// poll opens on its own connection shortly before the last one ends.

import type { Outcome } from "../http/outcome.js";
import { invariant } from "../invariant.js";
import { rpcPollPath, updatesPath } from "../wire/paths.js";
import type { Loop } from "./loop.js";
import type { Pacer } from "./pacer.js";
import { MARGIN_MS, type PollTiming, type PollVerdict } from "./poll-timing.js";
import type { PlatformSession } from "./session.js";

const POLLS = {
  rpc: {
    pace: "rpcPoll",
    routes: ["rpcPoll", "secondRpcPoll"],
    path: rpcPollPath,
    overlapMs: 2000,
    /**
     * A poll is open on one node of the platform's cluster. When the device moves to another, the
     * poll stays open without news until it ends.
     */
    longestMs: 60_000,
    reportsToAll: false,
  },
  attributes: {
    pace: "attributePoll",
    routes: ["attributePoll", "secondAttributePoll"],
    path: updatesPath,
    overlapMs: 3000,
    longestMs: 300_000,
    /** The platform reports a change to every poll that is open, and ends them. */
    reportsToAll: true,
  },
} as const;

export type PollKind = keyof typeof POLLS;
type PollRoute = (typeof POLLS)[PollKind]["routes"][number];

/**
 * With one connection, all other requests wait for the poll. So a poll opens when the others have
 * been idle for a moment. If they never become idle, short polls are sent from time to time.
 */
const SHARED_POLL_MS = 25_000;
const SHORT_POLL_MS = 1000;
const QUIET_MS = 50;
const QUIET_PATIENCE_MS = 5000;
/**
 * Where each poll is lost at once while other requests are answered, as behind a firewall, their
 * answers end the device's wait. So the second such poll in a row waits on its own (pace.ts).
 */
const LOST_AT_ONCE_MS = 5000;

export interface OpenPoll {
  /** Polls that were sent later have higher numbers. */
  number: number;
  readonly route: PollRoute;
  readonly askedMs: number;
  /** Time when it was handed to the connection, then when it was sent. */
  since: number;
  isSent: boolean;
  /** Another poll brought a change meanwhile, so this one brings the same or an older one. */
  isOutdated: boolean;
}

export interface EndedPoll {
  readonly poll: Readonly<OpenPoll>;
  readonly outcome: Outcome;
  readonly verdict: PollVerdict;
  readonly endedAt: number;
  readonly tookMs: number;
}

export class LongPoll {
  protected readonly session: PlatformSession;
  private readonly _timing: PollTiming;
  private readonly _kind: (typeof POLLS)[PollKind];
  private readonly _limit: number;
  private readonly _loop: Loop;
  private readonly _onSent: ((overlaps: boolean) => void) | undefined;
  readonly pacer: Pacer;
  /** At most two: one that reports, and its successor. */
  private _open: OpenPoll[] = [];
  /** Polls that ended and are not processed yet, oldest first. */
  ended: EndedPoll[] = [];
  private _lastEnd = 0;
  private _lastVerdict: PollVerdict = "ended";
  /** When the last poll was lost; never, if it was not. */
  private _lostAt = Number.POSITIVE_INFINITY;
  private _lastRoute: PollRoute | undefined;
  /** Number of the next poll. */
  next = 0;

  /**
   * `limit`: maximum bytes of an answer. `loop` is notified when a poll ended. `onSent` is called
   * when a poll was sent: true if another one was open and reports.
   */
  constructor(
    session: PlatformSession,
    timing: PollTiming,
    kind: PollKind,
    limit: number,
    loop: Loop,
    onSent?: (overlaps: boolean) => void,
  ) {
    this.session = session;
    this._timing = timing;
    this._kind = POLLS[kind];
    this._limit = limit;
    this._loop = loop;
    this._onSent = onSent;
    this.pacer = session.pacer(this._kind.pace);
  }

  /** Starts afresh: ignores polls of an earlier start. */
  forgetOpen(): void {
    this._open = [];
    this.ended = [];
    this._lastVerdict = "ended";
    this._lastEnd = this.now;
  }

  /** Lowest number of the polls that are open or not processed yet. */
  get oldest(): number {
    let least = this.next;
    for (const { number } of this._open) least = Math.min(least, number);
    for (const { poll } of this.ended) least = Math.min(least, poll.number);
    return least;
  }

  /** The open poll that reports: it was sent, and is not outdated. */
  get reporting(): Readonly<OpenPoll> | undefined {
    return this._open.find(({ isSent, isOutdated }) => isSent && !isOutdated);
  }

  /**
   * ms until the next poll is due: 0: now; undefined: not before an open poll ends or there is a
   * token, of which the loop is notified.
   */
  dueMs(): number | undefined {
    const freeMs = this.pacer.untilFreeMs;
    if (freeMs === undefined || this._open.length > 1) return undefined;
    const only = this._open[0];
    if (only?.isOutdated) return freeMs;
    if (!only) return Math.max(freeMs, this._sharesUplink && this._patienceMs > 0 ? this._untilQuiet : 0);
    if (!this.session.connections.overlaps(only.route)) return undefined;
    return Math.max(freeMs, only.since + only.askedMs - this._kind.overlapMs - this.now);
  }

  /** Opens a poll that is due. */
  openPoll(): void {
    const unused = this._kind.routes.filter((route) => !this._isInUse(route));
    // Without another poll, one connection is open: the last one's.
    const route = unused.find((one) => one === this._lastRoute) ?? unused[0];
    if (route) this._send(route, this._askedMs());
  }

  /**
   * Asks once more on the connection of an ended poll, for what the platform holds now. Resolves at
   * the end of the new poll, which is processed like any other.
   */
  askAgain({ route }: Readonly<OpenPoll>): Promise<void> {
    return new Promise((resolve) => this._send(route, SHORT_POLL_MS, resolve));
  }

  /**
   * Call when an ended poll was processed. One idle connection is enough; an open poll has its own.
   */
  processed({ route }: Readonly<OpenPoll>): void {
    const isReplaced = this._open.some(({ isOutdated }) => !isOutdated);
    if (isReplaced && !this._isInUse(route)) this.session.connections.hangUp(route);
  }

  private _isInUse(route: PollRoute): boolean {
    return this._open.some((poll) => poll.route === route);
  }

  private _send(route: PollRoute, askedMs: number, ended?: () => void): void {
    const since = this.now;
    const poll: OpenPoll = { number: this.next++, route, askedMs, since, isSent: false, isOutdated: false };
    this._open.push(poll);
    invariant("at most two polls are open", () => this._open.length <= 2);
    const request = {
      method: "GET",
      path: this._kind.path(askedMs),
      deadlineMs: askedMs + MARGIN_MS,
      limit: this._limit,
      // A dead connection has no poll on the platform that could take news away.
      repeatable: true,
      isPoll: true,
      sent: () => {
        // A poll that the connection sends again no longer overlaps the one before it.
        const overlaps = !poll.isSent && this.reporting !== undefined;
        poll.isSent = true;
        poll.since = this.now;
        poll.number = this.next++;
        this._onSent?.(overlaps);
      },
    } as const;
    this.session.dispatch(route, request, undefined, (outcome) => {
      this._end(poll, outcome);
      ended?.();
    });
  }

  private _end(poll: OpenPoll, outcome: Outcome): void {
    const at = this._open.indexOf(poll);
    if (at < 0) return;
    this._open.splice(at, 1);
    // A poll that `stop()` ended says nothing about the possible duration of polls.
    if (!this.session.running) return;
    const endedAt = this.now;
    const tookMs = endedAt - poll.since;
    const verdict =
      poll.askedMs === SHORT_POLL_MS
        ? shortPollVerdict(outcome)
        : this._timing.pollEnded(outcome, tookMs, this.session.heard(poll.since), poll.askedMs);
    const { answeredAt } = this.session;
    if (verdict === "lost" && tookMs < LOST_AT_ONCE_MS)
      if (answeredAt > this._lostAt && answeredAt <= poll.since) this.pacer.slow();
    this._lostAt = verdict === "lost" ? endedAt : Number.POSITIVE_INFINITY;
    this._lastEnd = endedAt;
    this._lastRoute = poll.route;
    if (!poll.isOutdated) {
      this._lastVerdict = verdict;
      if (verdict === "ended") this.pacer.clear();
      if (verdict === "busy") this.pacer.slow(outcome);
      if (this._kind.reportsToAll && outcome.kind === "done")
        for (const other of this._open) other.isOutdated = true;
    }
    this.ended.push({ poll, outcome, verdict, endedAt, tookMs });
    this._loop.notify();
  }

  protected get now(): number {
    return this.session.host.clock.now();
  }

  private get _sharesUplink(): boolean {
    return this.session.connections.sharesUplink;
  }

  /**
   * Counts from the end of the last poll too: requests that waited for that end may not be sent
   * yet.
   */
  private get _untilQuiet(): number {
    const quietMs = Math.min(this.session.quietMs, this.now - this._lastEnd);
    return Math.max(0, Math.ceil(QUIET_MS - quietMs));
  }

  private get _patienceMs(): number {
    return this._lastEnd + QUIET_PATIENCE_MS - this.now;
  }

  private _askedMs(): number {
    const one = this._sharesUplink;
    if (one && (this.session.connections.shortPolls || this._untilQuiet > 0)) return SHORT_POLL_MS;
    const isAfterLoss = this._lastVerdict === "lost";
    const askedMs = isAfterLoss ? this._timing.afterLoss(this.session.host) : this._timing.askedMs;
    return Math.min(one ? SHARED_POLL_MS : this._kind.longestMs, askedMs);
  }
}

/** The outcome of a short poll says nothing about longer polls. */
const shortPollVerdict = (outcome: Outcome): PollVerdict => {
  if (outcome.kind === "lost") return "lost";
  if (outcome.kind === "done") return outcome.body.length > 0 ? "delivered" : "ended";
  return outcome.status === 408 ? "ended" : "busy";
};
