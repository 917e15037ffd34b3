// Reports on delivery to the application and the platform: dropped points, points with a guessed
// time stamp, and delivery that falls behind.
import type { Events } from "../../events.js";
import type { PlatformSession } from "../../platform/index.js";
import { type Outbox, REASONS } from "../queue/outbox.js";
import type { DropReason, Drops } from "../queue/record.js";
import type { Time } from "../time/time.js";

/**
 * Drops are gathered for GATHER_MS into one event; while they go on, at most one event per
 * EVENT_MS.
 */
const GATHER_MS = 1000;
const EVENT_MS = 60_000;
/** While drops go on, report them to the platform at most this often. */
const REPORT_MS = 10_000;
/** Delivery is behind if points that wait now are not all delivered after this time. */
const BEHIND_MS = 60_000;

const TEXT: { readonly [reason in DropReason]: string } = {
  full: "the queue is full",
  refused: "the platform rejected their content",
  unreadable: "the queue could not be read",
};

export class DeliveryReport {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _time: Time;
  private readonly _outbox: Outbox;
  /** Drops in events so far. Each dropped point is counted in exactly one event. */
  private readonly _told: Drops;
  private _waitsForEvent = false;
  private _eventAt = Number.NEGATIVE_INFINITY;
  /**
   * Points with a guessed time stamp: delivered, in the last report, and in the last accepted one.
   */
  private _guessed = 0;
  private _guessedSent = 0;
  private _guessedReported = 0;
  private _dropsSent = 0;
  private _sentAt = Number.NEGATIVE_INFINITY;
  /** Points below this number waited at `_watchedSince`; undefined: the platform is not busy. */
  private _watched: number | undefined;
  private _watchedSince = 0;
  /** Points dropped by then. Dropped points leave the outbox too, but are not delivered. */
  private _dropsBefore = 0;
  private _cancel: (() => void) | undefined;
  private _isBehind = false;

  constructor(session: PlatformSession, events: Events, time: Time, outbox: Outbox) {
    this._session = session;
    this._events = events;
    this._time = time;
    this._outbox = outbox;
    this._told = { ...outbox.counted };
    outbox.watch(() => this._dropped());
  }

  /** The platform accepted points, of which `guessed` have a guessed time stamp. */
  delivered(guessed: number): void {
    this._guessed += guessed;
    this._caughtUp();
  }

  /**
   * The platform is busy (429, an empty 500, or a proxy's 503). Reports once if the points that
   * wait now are not all delivered within a minute, and once when delivery has caught up.
   */
  busy(): void {
    if (this._watched !== undefined) return;
    this._watch();
    this._cancel = this._session.host.clock.timer(BEHIND_MS, () => this._fellBehind());
  }

  /** Stops the measurement. */
  stopWatching(): void {
    this._cancel?.();
    this._cancel = undefined;
    this._watched = undefined;
  }

  /**
   * True if there is something to report to the platform and the last report is long enough ago.
   */
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
   * The body of a report, as telemetry. Its values are totals, so a report that arrives twice is
   * harmless: `moteDroppedFull`, `moteDroppedRefused`, `moteDroppedUnreadable` (since the durable
   * queue was created or, without one, since the start) and `moteTimeGuessed` (since the start).
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

  /** The body of a probe: a point that any platform accepts if it accepts telemetry at all. */
  probe(): Uint8Array {
    return this._encode({ moteDroppedRefused: this._outbox.dropped.refused });
  }

  /** The platform accepted the report. */
  accepted(): void {
    this._outbox.dropsReported(this._dropsSent);
    this._guessedReported = this._guessedSent;
  }

  private _encode(values: Record<string, number>): Uint8Array {
    const ts = this._outbox.settings.timestamps === "device" ? this._time.now() : undefined;
    return this._session.host.encode(JSON.stringify(ts === undefined ? values : { ts, values }));
  }

  private _dropped(): void {
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
      const points = this._outbox.dropped[reason] - this._told[reason];
      this._told[reason] += points;
      // Less after a reset.
      if (points <= 0) continue;
      host.log("warn", `${points} points dropped: ${TEXT[reason]}`);
      this._events.emit("drop", { points, reason });
    }
  }

  private _caughtUp(): void {
    const { first, waiting, drops } = this._outbox;
    // The agent was stopped in between.
    if (this._watched === undefined && this._isBehind) this._watch();
    if (this._watched === undefined || first < this._watched) return;
    // A dropped point was not delivered.
    const hasDropped = drops !== this._dropsBefore;
    const isLate = this._isBehind && this._session.host.clock.now() - this._watchedSince > BEHIND_MS;
    if (waiting > 0 && (isLate || hasDropped)) {
      this._watch();
      return;
    }
    this.stopWatching();
    if (!this._isBehind) return;
    this._isBehind = false;
    this._session.host.log("info", "delivery has caught up");
    this._events.emit("delivery", { behind: false, points: waiting });
  }

  private _watch(): void {
    this._watched = this._outbox.next;
    this._watchedSince = this._session.host.clock.now();
    this._dropsBefore = this._outbox.drops;
  }

  private _fellBehind(): void {
    this._cancel = undefined;
    if (this._isBehind) return;
    // Outages have their own report.
    if (this._session.online !== true) {
      this.stopWatching();
      return;
    }
    this._isBehind = true;
    const points = this._outbox.waiting;
    this._session.host.log(
      "warn",
      `delivery is more than a minute behind: the platform limits the rate, ${points} points wait`,
    );
    this._events.emit("delivery", { behind: true, points });
  }
}
