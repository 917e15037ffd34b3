// Keeps a poll for changes of shared attributes open (GET .../attributes/updates?timeout=MS). It
// needs its own connections, the third and fourth.
//
// The platform reports a change to every poll that is open at that moment, and ends them. So the
// next poll opens shortly before the last one ends. The values must be read only after an end that
// may have left a gap: a change, a loss, or a poll that the platform registered too late.

import type { Outcome } from "../../http/outcome.js";
import type { PlatformSession } from "../../platform/index.js";
import { RequestChannel } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { type Notification, parseNotification } from "../../wire/attributes.js";
import { updatesPath } from "../../wire/paths.js";
import { READ_EVERY_MS } from "./shared-values.js";

/** Delay between sending a poll and reading the values, so that the poll is registered first. */
export const READ_AFTER_POLL_MS = 500;
/** Minimum time between the starts of two polls, even if they are answered at once. */
const PACE_MS = 500;
/** The next poll opens this long before the last one ends. */
export const OVERLAP_MS = 3000;
/** A notification may be on its way to a poll for this long when the poll ends. */
const IN_FLIGHT_MS = 1000;
/** Maximum of the option `connections`. */
export const MOST_CONNECTIONS = 3;

type News = Exclude<Notification, { kind: "malformed" }>;

/** The loop that reads the values. */
interface Reader {
  wake(): void;
  readSoon(inMs: number): void;
}

interface OpenPoll {
  readonly channel: RequestChannel;
  readonly askedMs: number;
  /** Time when the poll was sent; undefined while it waits for its turn. */
  since: number | undefined;
  /** Another poll brought a change meanwhile, so this one brings the same or an older one. */
  outdated: boolean;
}

interface EndedPoll {
  readonly poll: OpenPoll;
  readonly outcome: Outcome;
  readonly at: number;
  readonly tookMs: number;
  readonly heard: boolean;
}

export class AttributePolls {
  private readonly _session: PlatformSession;
  private readonly _timing: PollTiming;
  private readonly _channels: readonly [RequestChannel, RequestChannel];
  private readonly _limit: number;
  private readonly _loop: Reader;
  private _open: OpenPoll[] = [];
  private _ended: EndedPoll[] = [];
  /** No change before this time can have been missed. */
  private _coveredUntil = Number.NEGATIVE_INFINITY;
  private _lost = false;
  /** The last poll brought a change. Consecutive changes have similar response heads. */
  private _lastDelivered = false;
  /** Polls do not pass, so the values must be read at intervals. */
  blocked = false;
  /** How long the last taken notification had waited, in ms. */
  waitedMs = 0;

  constructor(session: PlatformSession, timing: PollTiming, limit: number, loop: Reader) {
    this._session = session;
    this._timing = timing;
    this._channels = [
      new RequestChannel(session, "attributePoll"),
      new RequestChannel(session, "secondAttributePoll"),
    ];
    this._limit = limit;
    this._loop = loop;
  }

  /** Starts afresh: ignores polls of an earlier start. */
  clear(): void {
    this._open = [];
    this._ended = [];
    this._coveredUntil = Number.NEGATIVE_INFINITY;
  }

  /** True if a notification arrived that was not taken yet. */
  get hasNews(): boolean {
    return this._ended.some(({ outcome }) => outcome.kind === "done");
  }

  /** True if an ended poll was not taken yet. */
  get hasEnded(): boolean {
    return this._ended.length > 0;
  }

  /** A complete read began at `at`. */
  covered(at: number): void {
    this._coveredUntil = Math.max(this._coveredUntil, at);
  }

  /** ms until the next poll is due: 0: now; undefined: not before an open poll ends. */
  dueMs(): number | undefined {
    const { pollsAttributes, overlapsAttributePolls } = this._session.connections;
    if (!pollsAttributes || this._open.length > 1) return undefined;
    const only = this._open[0];
    if (!only || only.outdated) return 0;
    // A poll that waits for a back-off would keep the next one from opening when this one ends.
    if (only.since === undefined || !overlapsAttributePolls || !this._spare?.free) return undefined;
    return Math.max(0, only.since + only.askedMs - OVERLAP_MS - this._session.host.clock.now());
  }

  /** Opens a poll if one is due. */
  open(): void {
    if (this.dueMs() !== 0) return;
    const channel = this._spare;
    if (!channel) return;
    const timing = this._timing;
    const askedMs = this._lost ? timing.afterLoss(this._session.host) : timing.askedMs;
    const poll: OpenPoll = { channel, askedMs, since: undefined, outdated: false };
    this._open.push(poll);
    const deadlineMs = timing.deadlineMs - timing.askedMs + askedMs;
    // The back-off of the poll may still run while the uplink is free.
    void channel.ready().then(() => this._open.includes(poll) && this._send(poll, deadlineMs));
  }

  /** A channel without a poll. */
  private get _spare(): RequestChannel | undefined {
    const spares = this._channels.filter((one) => !this._open.some((poll) => poll.channel === one));
    return spares.find(({ free }) => free) ?? spares[0];
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
      alike: this._lastDelivered,
      sent: () => {
        // A poll that is sent again takes the place of one that covers nothing any more.
        const overlaps = poll.since === undefined && this._covering !== undefined;
        poll.since = clock.now();
        if (!overlaps) this._loop.readSoon(READ_AFTER_POLL_MS);
        this._loop.wake();
      },
    } as const;
    poll.channel.dispatch(request, (outcome) => this._end(poll, queuedAt, outcome));
  }

  /** The poll that reports changes now. */
  private get _covering(): OpenPoll | undefined {
    return this._open.find(({ since, outdated }) => since !== undefined && !outdated);
  }

  private _end(poll: OpenPoll, queuedAt: number, outcome: Outcome): void {
    const index = this._open.indexOf(poll);
    // Ignore a poll from before a stop.
    if (index < 0) return;
    this._open.splice(index, 1);
    const since = poll.since ?? queuedAt;
    const at = this._session.host.clock.now();
    const heard = poll.channel.heard(since);
    this._ended.push({ poll, outcome, at, tookMs: at - since, heard });
    // Every open poll gets the same change, and maybe later than a newer one.
    if (outcome.kind === "done" && !poll.outdated)
      this._open.forEach((other) => {
        other.outdated = true;
      });
    // One idle connection is enough, and the next poll takes the first channel if that is free.
    const isSecond = poll.channel === this._channels[1];
    if (isSecond || this._open.some(({ outdated }) => !outdated)) poll.channel.hangUp();
    this._loop.wake();
  }

  /** Takes the next ended poll. Returns its notification, if there is one to apply. */
  take(): News | undefined {
    const ended = this._ended.shift();
    if (!ended) return undefined;
    const { poll, outcome, at, tookMs, heard } = ended;
    this.waitedMs = this._session.host.clock.now() - at;
    const verdict = this._timing.judge(outcome, tookMs, heard, poll.askedMs);
    if (poll.outdated) {
      if (verdict === "delivered") this._readAgain();
      return undefined;
    }
    this._lost = verdict === "lost";
    this._lastDelivered = verdict === "delivered";
    if (verdict === "ended") this._clear();
    if (verdict === "busy") this._hold();
    this.blocked = verdict === "busy" || verdict === "lost";
    if (verdict !== "ended" || !this._covers(outcome, at, tookMs, poll.askedMs)) this._readAgain();
    const news = verdict === "delivered" && outcome.kind === "done" ? this._read(outcome, tookMs) : undefined;
    if (this.blocked) this._loop.readSoon(READ_EVERY_MS);
    return news;
  }

  /**
   * True if a poll that ended at `at` left no gap: the platform held it for the whole time, and
   * registered it before the time until which everything was covered.
   */
  private _covers(
    { status }: Outcome & { status?: number },
    at: number,
    tookMs: number,
    askedMs: number,
  ): boolean {
    const registeredBy = at - askedMs;
    if (status !== 408 || tookMs < askedMs || registeredBy > this._coveredUntil) return false;
    // The platform counts from the arrival of the poll, so the poll did not end before this.
    this.covered(at - tookMs + askedMs - IN_FLIGHT_MS);
    return true;
  }

  /** Reads the values once an open poll is registered. A poll sent later reads by itself. */
  private _readAgain(): void {
    const since = this._covering?.since;
    if (since === undefined) return;
    this._loop.readSoon(Math.max(0, since + READ_AFTER_POLL_MS - this._session.host.clock.now()));
  }

  private _read({ body, whole }: Outcome & { kind: "done" }, tookMs: number): News | undefined {
    const news = parseNotification((whole && this._session.host.decode(body)) || "");
    if (news.kind === "malformed" || (news.kind === "updated" && Object.keys(news.values).length === 0)) {
      if (whole) this._session.counters.malformed("a notification of shared attributes");
      this._hold();
      this.blocked = true;
      return undefined;
    }
    this._clear();
    if (tookMs < PACE_MS) for (const channel of this._channels) channel.pause(PACE_MS - tookMs);
    return news;
  }

  private _clear(): void {
    for (const channel of this._channels) channel.clear();
  }

  private _hold(): void {
    for (const channel of this._channels) channel.hold();
  }
}
