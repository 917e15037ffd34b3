// Keeps a poll for changes of shared attributes open (GET .../attributes/updates?timeout=MS). It
// needs its own connection, the third.

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
/** Maximum of the option `connections`. */
export const MOST_CONNECTIONS = 3;

type News = Exclude<Notification, { kind: "malformed" }>;

/** The loop that reads the values. */
interface Reader {
  wake(): void;
  readSoon(inMs: number): void;
}

export class AttributePolls {
  private readonly _session: PlatformSession;
  private readonly _timing: PollTiming;
  private readonly _channel: RequestChannel;
  private readonly _limit: number;
  private readonly _loop: Reader;
  /** The poll that is open or waits for its turn. */
  private _poll: { since: number } | undefined;
  private _ended:
    | { outcome: Outcome; at: number; tookMs: number; heard: boolean; askedMs: number }
    | undefined;
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
    this._channel = new RequestChannel(session, "attributePoll");
    this._limit = limit;
    this._loop = loop;
  }

  /** Starts afresh: ignores polls of an earlier start. */
  clear(): void {
    this._poll = undefined;
    this._ended = undefined;
  }

  /** True if a notification arrived that was not taken yet. */
  get hasNews(): boolean {
    return this._ended?.outcome.kind === "done";
  }

  /** Opens a poll if none is open and the connections allow one. */
  open(): void {
    if (!this._session.connections.pollsAttributes || this._poll) return;
    const poll = { since: 0 };
    this._poll = poll;
    const timing = this._timing;
    const askedMs = this._lost ? timing.afterLoss(this._session.host) : timing.askedMs;
    const deadlineMs = timing.deadlineMs - timing.askedMs + askedMs;
    // The back-off of the poll may still run while the uplink is free.
    void this._channel.ready().then(() => this._poll === poll && this._send(poll, askedMs, deadlineMs));
  }

  private _send(poll: { since: number }, askedMs: number, deadlineMs: number): void {
    const { clock } = this._session.host;
    poll.since = clock.now();
    const request = {
      method: "GET",
      path: updatesPath(askedMs),
      deadlineMs,
      limit: this._limit,
      repeatable: true,
      alike: this._lastDelivered,
      sent: () => {
        poll.since = clock.now();
        this._loop.readSoon(READ_AFTER_POLL_MS);
      },
    } as const;
    this._channel.dispatch(request, (outcome) => {
      // Ignore a poll from before a stop.
      if (this._poll !== poll) return;
      const { since } = poll;
      const at = clock.now();
      this._ended = { outcome, at, tookMs: at - since, heard: this._channel.heard(since), askedMs };
      this._loop.wake();
    });
  }

  /** Takes the notification of the ended poll, if there is one. */
  take(): News | undefined {
    if (!this._ended) return undefined;
    const { outcome, at, tookMs, heard, askedMs } = this._ended;
    this.waitedMs = this._session.host.clock.now() - at;
    this.clear();
    const verdict = this._timing.judge(outcome, tookMs, heard, askedMs);
    this._lost = verdict === "lost";
    this._lastDelivered = verdict === "delivered";
    if (verdict === "ended") this._channel.clear();
    if (verdict === "busy") this._channel.hold();
    this.blocked = verdict === "busy" || verdict === "lost";
    const news = verdict === "delivered" && outcome.kind === "done" ? this._read(outcome, tookMs) : undefined;
    if (this.blocked) this._loop.readSoon(READ_EVERY_MS);
    return news;
  }

  private _read({ body, whole }: Outcome & { kind: "done" }, tookMs: number): News | undefined {
    const news = parseNotification((whole && this._session.host.decode(body)) || "");
    if (news.kind === "malformed" || (news.kind === "updated" && Object.keys(news.values).length === 0)) {
      if (whole) this._session.counters.malformed("a notification of shared attributes");
      this._channel.hold();
      this.blocked = true;
      return undefined;
    }
    this._channel.clear();
    if (tookMs < PACE_MS) this._channel.pause(PACE_MS - tookMs);
    return news;
  }
}
