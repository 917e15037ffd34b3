// Keeps a poll for changes of shared attributes open (GET .../attributes/updates?timeout=MS): with three connections, one of which is for it alone.

import type { Outcome } from "../../http/outcome.js";
import type { PlatformSession } from "../../platform/index.js";
import { RequestChannel } from "../../platform/index.js";
import type { PollTiming } from "../../platform/poll-timing.js";
import { type Notification, parseNotification } from "../../wire/attributes.js";
import { updatesPath } from "../../wire/paths.js";
import { READ_EVERY_MS } from "./shared-values.js";

/** After the next poll was written, so that it is registered before the values are read. */
export const READ_AFTER_POLL_MS = 500;
/** Polls begin so far apart at least, however fast they are answered. */
const PACE_MS = 500;
/** Of the option `connections`. */
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
  /** That is open, or waits to be. */
  private _poll: { since: number } | undefined;
  private _ended:
    | { outcome: Outcome; at: number; tookMs: number; heard: boolean; askedMs: number }
    | undefined;
  private _lost = false;
  /** The last poll that ended brought something: where one change follows the other, so do the heads. */
  private _brought = false;
  /** No poll is let through: the values are to be read as if there were none. */
  blocked = false;
  /** For how long what `take` gave last had waited to be taken. */
  waitedMs = 0;

  constructor(session: PlatformSession, timing: PollTiming, limit: number, loop: Reader) {
    this._session = session;
    this._timing = timing;
    this._channel = new RequestChannel(session, "attributePoll");
    this._limit = limit;
    this._loop = loop;
  }

  /** A new start: what an earlier one left open is of no interest. */
  clear(): void {
    this._poll = undefined;
    this._ended = undefined;
  }

  /** A notification came that `take` did not give yet. */
  get hasNews(): boolean {
    return this._ended?.outcome.kind === "done";
  }

  /** Opens a poll, if there is none and the connections allow for it. */
  open(): void {
    if (this._session.mode !== 3 || this._poll) return;
    const poll = { since: 0 };
    this._poll = poll;
    const timing = this._timing;
    const askedMs = this._lost ? timing.afterLoss(this._session.host) : timing.askedMs;
    const deadlineMs = timing.deadlineMs - timing.askedMs + askedMs;
    // The poll's own back-off may still run while the uplink is free.
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
      alike: this._brought,
      sent: () => {
        poll.since = clock.now();
        this._loop.readSoon(READ_AFTER_POLL_MS);
      },
    } as const;
    this._channel.dispatch(request, (outcome) => {
      // One of before a stop is of no interest.
      if (this._poll !== poll) return;
      const { since } = poll;
      const at = clock.now();
      this._ended = { outcome, at, tookMs: at - since, heard: this._channel.heard(since), askedMs };
      this._loop.wake();
    });
  }

  /** What the poll that ended brought, if there is one and it brought anything. */
  take(): News | undefined {
    if (!this._ended) return undefined;
    const { outcome, at, tookMs, heard, askedMs } = this._ended;
    this.waitedMs = this._session.host.clock.now() - at;
    this.clear();
    const verdict = this._timing.judge(outcome, tookMs, heard, askedMs);
    this._lost = verdict === "lost";
    this._brought = verdict === "delivered";
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
