// Keeps a poll for server-side RPC open (GET /api/v1/{token}/rpc?timeout=MS).
//
// The platform loses a one-way RPC that arrives while no poll is open, if the last poll timed out.
// So with two or more connections the next poll opens on its own connection shortly before the last
// one ends.

import type { Outcome } from "../../http/outcome.js";
import { invariant } from "../../invariant.js";
import type { Loop, Pacer, PlatformSession } from "../../platform/index.js";
import type { PollTiming, PollVerdict } from "../../platform/poll-timing.js";
import { rpcPollPath } from "../../wire/paths.js";

/** The next poll opens this long before the last one ends. */
export const RPC_OVERLAP_MS = 2000;
/**
 * With one connection, all other requests wait for the poll. So a poll opens when the others have
 * been idle for a moment. If they never become idle, short polls are sent from time to time.
 */
export const SHARED_POLL_MS = 25_000;
export const SHORT_POLL_MS = 1000;
export const QUIET_MS = 50;
export const QUIET_PATIENCE_MS = 5000;
/**
 * A poll is open on one node of the platform's cluster. When the device moves to another, the poll
 * stays open without news until it ends.
 */
export const LONGEST_RPC_POLL_MS = 60_000;

export interface EndedPoll {
  /** Polls that were sent later have higher numbers. */
  readonly number: number;
  readonly outcome: Outcome;
  readonly verdict: PollVerdict;
  readonly route: PollRoute;
}

const ROUTES = ["rpcPoll", "secondRpcPoll"] as const;
type PollRoute = (typeof ROUTES)[number];

interface OpenPoll {
  number: number;
  readonly route: PollRoute;
  readonly askedMs: number;
  /** Time when the poll was handed to the connection. */
  since: number;
}

export class RpcPolls {
  private readonly _session: PlatformSession;
  private readonly _timing: PollTiming;
  private readonly _loop: Loop;
  readonly pacer: Pacer;
  private readonly _limit: number;
  private _open: OpenPoll[] = [];
  private _ended: EndedPoll[] = [];
  private _lastEnd = 0;
  /** The last poll brought an RPC. Consecutive RPCs have similar response heads. */
  private _lastDelivered = false;
  private _lastWasLost = false;
  private _lastRoute: PollRoute | undefined;
  /** Interrupts the wait for the next poll. */
  private _interrupt: (() => void) | undefined;
  /** Number of the next poll. */
  next = 0;

  constructor(session: PlatformSession, timing: PollTiming, loop: Loop, limit: number) {
    this._session = session;
    this._timing = timing;
    this._loop = loop;
    this.pacer = session.pacer("rpcPoll");
    this._limit = limit;
  }

  /** Lowest number of the polls that are open or not processed yet. */
  get oldest(): number {
    const lowest = (least: number, { number }: { readonly number: number }) => Math.min(least, number);
    return this._ended.reduce(lowest, this._open.reduce(lowest, this.next));
  }

  /** Starts afresh: ignores polls of an earlier start. */
  clear(): void {
    this._open = [];
    this._ended = [];
    this._lastWasLost = false;
    this._lastEnd = this._session.host.clock.now();
  }

  /** Polls that ended and were not processed yet. */
  get ended(): readonly EndedPoll[] {
    return this._ended;
  }

  /** Takes the next ended poll. */
  takeEnded(): EndedPoll | undefined {
    return this._ended.shift();
  }

  /** ms until the next poll is due: 0: now; undefined: not before an open poll ends. */
  dueMs(): number | undefined {
    const only = this._open[0];
    if (!only) return this._sharesUplink && !this._quiet && this._patienceMs > 0 ? this._untilQuiet : 0;
    if (this._open.length > 1 || this._sharesUplink) return undefined;
    return Math.max(0, only.since + only.askedMs - RPC_OVERLAP_MS - this._session.host.clock.now());
  }

  open(): void {
    const unused = ROUTES.filter((route) => !this._isInUse(route));
    // Without another poll, one connection is open: the last one's.
    const route = unused.find((one) => one === this._lastRoute) ?? unused[0];
    if (route) this._send(route, this._askedMs());
  }

  /**
   * Asks once more on the connection of `ended`, for what the platform holds now. Resolves at the
   * end of that poll, which is processed like any other.
   */
  ask({ route }: EndedPoll): Promise<void> {
    return new Promise((resolve) => this._send(route, SHORT_POLL_MS, resolve));
  }

  /** The route that an answer to the RPC of `ended` takes. */
  answerRoute({ route }: EndedPoll): "rpcAnswer" | "secondRpcAnswer" {
    return route === "rpcPoll" ? "rpcAnswer" : "secondRpcAnswer";
  }

  /** Call when `ended` was processed. One idle connection is enough; an open poll has its own. */
  processed({ route }: EndedPoll): void {
    if (this._open.length > 0 && !this._isInUse(route)) this._session.connections.hangUp(route);
  }

  private _isInUse(route: PollRoute): boolean {
    return this._open.some((poll) => poll.route === route);
  }

  private _send(route: PollRoute, askedMs: number, ended?: () => void): void {
    const clock = this._session.host.clock;
    const poll: OpenPoll = { number: this.next++, route, askedMs, since: clock.now() };
    this._open.push(poll);
    invariant("at most two polls are open", () => this._open.length <= 2);
    const request = {
      method: "GET",
      path: rpcPollPath(askedMs),
      deadlineMs: this._timing.deadlineMs - this._timing.askedMs + askedMs,
      limit: this._limit,
      // A dead connection has no poll on the platform that could take an RPC away.
      repeatable: true,
      isPoll: true,
      alike: this._lastDelivered,
      sent: () => {
        poll.since = clock.now();
        poll.number = this.next++;
      },
    } as const;
    this._session.dispatch(route, request, undefined, (outcome) => {
      this._end(poll, outcome);
      ended?.();
    });
  }

  /**
   * Resolves with true when the next poll may be opened, or with false as soon as an open poll
   * ends, because it may have brought an RPC.
   */
  ready(): Promise<boolean> {
    return new Promise((resolve) => {
      this._interrupt = () => resolve(false);
      this.pacer.ready().then(() => resolve(true));
    });
  }

  private get _sharesUplink(): boolean {
    return this._session.connections.sharesUplink;
  }

  private get _quiet(): boolean {
    return this._untilQuiet === 0;
  }

  /**
   * Counts from the end of the last poll too: requests that waited for that end may not be sent
   * yet.
   */
  private get _untilQuiet(): number {
    const quietMs = Math.min(this._session.quietMs, this._session.host.clock.now() - this._lastEnd);
    return Math.max(0, Math.ceil(QUIET_MS - quietMs));
  }

  private get _patienceMs(): number {
    return this._lastEnd + QUIET_PATIENCE_MS - this._session.host.clock.now();
  }

  private _askedMs(): number {
    const one = this._sharesUplink;
    if (one && (this._session.connections.shortPolls || !this._quiet)) return SHORT_POLL_MS;
    const askedMs = this._lastWasLost ? this._timing.afterLoss(this._session.host) : this._timing.askedMs;
    return Math.min(one ? SHARED_POLL_MS : LONGEST_RPC_POLL_MS, askedMs);
  }

  private _end(poll: OpenPoll, outcome: Outcome): void {
    const at = this._open.indexOf(poll);
    if (at < 0) return;
    this._open.splice(at, 1);
    // A poll that `stop()` ended says nothing about the possible duration of polls.
    if (!this._session.running) return;
    this._lastRoute = poll.route;
    this._lastEnd = this._session.host.clock.now();
    const tookMs = this._lastEnd - poll.since;
    const verdict =
      poll.askedMs === SHORT_POLL_MS
        ? shortPollVerdict(outcome)
        : this._timing.pollEnded(outcome, tookMs, this._session.heard(poll.since), poll.askedMs);
    this._lastDelivered = verdict === "delivered";
    this._lastWasLost = verdict === "lost";
    this._ended.push({ number: poll.number, outcome, verdict, route: poll.route });
    this._loop.notify();
    this._interrupt?.();
  }
}

/** The outcome of a short poll says nothing about longer polls. */
const shortPollVerdict = (outcome: Outcome): PollVerdict => {
  if (outcome.kind === "lost") return "lost";
  if (outcome.kind === "done") return outcome.body.length > 0 ? "delivered" : "ended";
  return outcome.status === 408 ? "ended" : "busy";
};
