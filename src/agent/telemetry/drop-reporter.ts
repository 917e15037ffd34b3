import type { Host } from "../../port.js";
import type { Outbox } from "../queue/index.js";
import type { Time } from "../time/time.js";

/** While drops go on they are reported so often at most. */
const AGAIN_MS = 10_000;

/**
 * Reports as telemetry, once the platform takes telemetry again, what it will miss. The keys hold totals, so that a report
 * that came twice does no harm: `moteDroppedFull`, `moteDroppedRefused`, `moteDroppedUnreadable` (points dropped since the durable queue
 * began; without one, since the start) and `moteTimeGuessed` (points since the start whose time stamp is a guess).
 */
export class DropReporter {
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _outbox: Outbox;
  private _guessed = 0;
  private _guessedReported = 0;
  private _guessedSent = 0;
  private _dropsSent = 0;
  private _sentAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, time: Time, outbox: Outbox) {
    this._host = host;
    this._time = time;
    this._outbox = outbox;
  }

  /** The platform took points whose time stamp is a guess. */
  guessed(points: number): void {
    this._guessed += points;
  }

  /** There is something to report, and the last report is long enough ago. */
  get due(): boolean {
    return this.untilDue === 0;
  }

  /** ms until a report may go out; undefined if there is nothing to report. */
  get untilDue(): number | undefined {
    const news = this._outbox.drops !== this._outbox.reported || this._guessed !== this._guessedReported;
    if (!news) return undefined;
    return Math.max(0, Math.ceil(this._sentAt + AGAIN_MS - this._host.clock.now()));
  }

  /** The body of the report. */
  body(): Uint8Array {
    this._sentAt = this._host.clock.now();
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

  /** The body of a point of the agent's own that any platform takes that takes points at all. */
  probe(): Uint8Array {
    return this._encode({ moteDroppedRefused: this._outbox.dropped.refused });
  }

  private _encode(values: Record<string, number>): Uint8Array {
    const ts = this._outbox.settings.timestamps === "device" ? this._time.now() : undefined;
    return this._host.encode(JSON.stringify(ts === undefined ? values : { ts, values }));
  }

  /** The platform took the report. */
  done(): void {
    this._outbox.dropsReported(this._dropsSent);
    this._guessedReported = this._guessedSent;
  }
}
