// What the application and the platform learn of delivery: dropped points, points whose time is a guess,
// and that delivery falls behind.
import type { Events } from "../../events.js";
import type { PlatformSession } from "../../platform/index.js";
import type { DropReason, Drops, Outbox } from "../queue/index.js";
import type { Time } from "../time/time.js";

/** A burst of drops is one event, this long after its first; a lasting one again at most so often. */
const GATHER_MS = 1000;
const EVENT_MS = 60_000;
/** While drops go on they are reported to the platform so often at most. */
const REPORT_MS = 10_000;
/** Delivery is behind if points that wait now are not all delivered after this time. */
const BEHIND_MS = 60_000;

const REASONS: readonly DropReason[] = ["full", "refused", "unreadable"];
const TEXT: { readonly [reason in DropReason]: string } = {
  full: "there was no room",
  refused: "the platform refuses their content",
  unreadable: "they could not be read back",
};

export class DeliveryReport {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _time: Time;
  private readonly _outbox: Outbox;
  /** Drops that no event told yet. The numbers add up: each point is in one event. */
  private readonly _pending: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _waitsForEvent = false;
  private _eventAt = Number.NEGATIVE_INFINITY;
  /** Points whose time stamp is a guess: delivered, in the last report, and in the last that was taken. */
  private _guessed = 0;
  private _guessedSent = 0;
  private _guessedReported = 0;
  private _dropsSent = 0;
  private _sentAt = Number.NEGATIVE_INFINITY;
  /** All points below this number waited at `_markedAt`; undefined: the platform is not busy. */
  private _mark: number | undefined;
  private _markedAt = 0;
  /** Points dropped by then: they leave the outbox, too. */
  private _dropsAtMark = 0;
  private _cancel: (() => void) | undefined;
  private _isBehind = false;

  constructor(session: PlatformSession, events: Events, time: Time, outbox: Outbox) {
    this._session = session;
    this._events = events;
    this._time = time;
    this._outbox = outbox;
    outbox.watch((points, reason) => this._dropped(points, reason));
  }

  /** The platform took points, `guessed` of which have a time stamp that is a guess. */
  delivered(guessed: number): void {
    this._guessed += guessed;
    this._caughtUp();
  }

  /**
   * The platform is busy ("not now": 429, an empty 500, a proxy's 503). If what waits now is not all
   * delivered in a minute, that is reported once, and once more when it is.
   */
  busy(): void {
    if (this._mark !== undefined) return;
    this._setMark();
    this._cancel = this._session.host.clock.timer(BEHIND_MS, () => this._fellBehind());
  }

  /** Nobody sends any more. */
  end(): void {
    this._cancel?.();
    this._cancel = undefined;
    this._mark = undefined;
  }

  /** There is something to report to the platform, and the last report is long enough ago. */
  get isDue(): boolean {
    return this.untilDue === 0;
  }

  /** ms until a report may go out; undefined if there is nothing to report. */
  get untilDue(): number | undefined {
    const hasNews = this._outbox.drops !== this._outbox.reported || this._guessed !== this._guessedReported;
    if (!hasNews) return undefined;
    return Math.max(0, Math.ceil(this._sentAt + REPORT_MS - this._session.host.clock.now()));
  }

  /**
   * The body of a report, as telemetry. The keys hold totals, so a report that comes twice does no harm:
   * `moteDroppedFull`, `moteDroppedRefused`, `moteDroppedUnreadable` (points dropped since the durable
   * queue began; without one, since the start) and `moteTimeGuessed` (since the start).
   */
  body(): Uint8Array {
    this._sentAt = this._session.host.clock.now();
    this._dropsSent = this._outbox.drops;
    this._guessedSent = this._guessed;
    const { full, refused, unreadable } = this._outbox.dropped;
    const values: Record<string, number> = {};
    if (full > 0) values.moteDroppedFull = full;
    if (refused > 0) values.moteDroppedRefused = refused;
    if (unreadable > 0) values.moteDroppedUnreadable = unreadable;
    if (this._guessed > 0) values.moteTimeGuessed = this._guessed;
    return this._encode(values);
  }

  /** The body of a small point that any platform takes that takes points at all. */
  probe(): Uint8Array {
    return this._encode({ moteDroppedRefused: this._outbox.dropped.refused });
  }

  /** The platform took the report. */
  reported(): void {
    this._outbox.dropsReported(this._dropsSent);
    this._guessedReported = this._guessedSent;
  }

  private _encode(values: Record<string, number>): Uint8Array {
    const ts = this._outbox.settings.timestamps === "device" ? this._time.now() : undefined;
    return this._session.host.encode(JSON.stringify(ts === undefined ? values : { ts, values }));
  }

  private _dropped(points: number, reason: DropReason): void {
    this._pending[reason] += points;
    if (this._waitsForEvent) return;
    this._waitsForEvent = true;
    const { clock } = this._session.host;
    const wait = Math.max(GATHER_MS, this._eventAt + EVENT_MS - clock.now());
    clock.timer(wait, () => this._emitDrops());
  }

  private _emitDrops(): void {
    const { host } = this._session;
    this._waitsForEvent = false;
    this._eventAt = host.clock.now();
    for (const reason of REASONS) {
      const points = this._pending[reason];
      if (points === 0) continue;
      this._pending[reason] = 0;
      host.log("warn", `${points} points dropped: ${TEXT[reason]}`);
      this._events.emit("drop", { points, reason });
    }
  }

  private _caughtUp(): void {
    const { first, waiting, drops } = this._outbox;
    // A stop lay between.
    if (this._mark === undefined && this._isBehind) this._setMark();
    if (this._mark === undefined || first < this._mark) return;
    // What was dropped is not delivered.
    const hasDropped = drops !== this._dropsAtMark;
    const isLate = this._isBehind && this._session.host.clock.now() - this._markedAt > BEHIND_MS;
    if (waiting > 0 && (isLate || hasDropped)) {
      this._setMark();
      return;
    }
    this.end();
    if (!this._isBehind) return;
    this._isBehind = false;
    this._session.host.log("info", "delivery has caught up");
    this._events.emit("delivery", { behind: false, points: waiting });
  }

  private _setMark(): void {
    this._mark = this._outbox.next;
    this._markedAt = this._session.host.clock.now();
    this._dropsAtMark = this._outbox.drops;
  }

  private _fellBehind(): void {
    this._cancel = undefined;
    if (this._isBehind) return;
    // An outage is reported as one.
    if (this._session.online !== true) {
      this.end();
      return;
    }
    this._isBehind = true;
    const points = this._outbox.waiting;
    this._session.host.log(
      "warn",
      `delivery is behind by a minute: the platform takes less, ${points} points wait`,
    );
    this._events.emit("delivery", { behind: true, points });
  }
}
