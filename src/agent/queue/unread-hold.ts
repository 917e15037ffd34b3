// While the host can't read the durable queue: how long nothing is sent, as what waits there goes first, and where the points go that were taken meanwhile.
import type { Host } from "../../port.js";
import { GIVEN, STAMPED, type Time } from "../time/time.js";
import type { SectorState } from "./flash-log/sector-header.js";
import { epochOf, kindOf, timeOf } from "./log-entry.js";
import type { Ring } from "./ring-buffer.js";
import type { Staging } from "./staging.js";

/** Then what can't be read is given up, or at a start left until it can. */
export const HOLD_MS = 60_000;
/** While that goes on, it is logged so often. */
const LOG_MS = 600_000;

export class UnreadHold {
  /** Nothing is sent for so long. */
  ms = HOLD_MS;
  /** Nothing is sent now. */
  on = false;
  private _onReopened: (() => void) | undefined;
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _ring: Ring;
  private readonly _staging: Staging;
  /** Since when the host can't read; undefined: it can. */
  private _since: number | undefined;
  private _loggedAt = Number.NEGATIVE_INFINITY;
  /** A batch may be under way, or was in this run. */
  private _isSending = false;
  private _hasSent = false;

  constructor(host: Host, time: Time, ring: Ring, staging: Staging) {
    this._host = host;
    this._time = time;
    this._ring = ring;
    this._staging = staging;
    staging.hold = this;
    if (staging.sectors.log.unread) this._since = host.clock.now();
  }

  /** From now on `onReopened` is called when the queue was read late, and points may wait there. */
  watch(onReopened: () => void): void {
    this._onReopened = onReopened;
  }

  /** Before a batch is built: none is under way. Tries to read what goes first, and says whether nothing is to be sent. */
  look(): boolean {
    this._isSending = false;
    this.on = this._holds();
    if (!this.on) this._isSending = this._hasSent = true;
    return this.on;
  }

  /** The batch that was built last is answered, or lost: until the next is built, which may be minutes in an outage, none is under way. */
  judged(): void {
    this._isSending = false;
  }

  /** No batch is under way whose points were numbered before. */
  get quiet(): boolean {
    return !this._isSending || this._ring.count === 0;
  }

  /** The run ends, and waiting gains nothing: what is in memory goes out without what could not be read since the start. */
  hurry(): void {
    if (this._staging.sectors.log.unread) this.ms = 0;
  }

  /** It was read late. */
  reopened(): void {
    const { state, waiting } = this._staging.sectors;
    this._place(state);
    this._host.log("error", "the durable queue is read again");
    if (waiting > 0) this._host.log("info", `${waiting} points wait from before`);
    this._onReopened?.();
  }

  /** The points in memory go behind it, and have time stamps of their own as far as the platform can't have seen them. */
  private _place(state: SectorState): void {
    const { _time: time, _ring: ring, _hasSent: sent } = this;
    const { words } = ring;
    const more = time.continueTicks(state);
    for (ring.rewind(); ring.step(); ) {
      const kind = kindOf(words, ring.at);
      const at = timeOf(words, ring.at);
      if (more !== undefined && kind !== GIVEN) ring.retime(kind, time.epoch, at + more);
      const ts = more === undefined ? time.resolve(kind, epochOf(words, ring.at), at) : undefined;
      if (ts !== undefined && kind !== GIVEN) ring.retime(STAMPED, 0, ts);
    }
    if (more !== undefined) return;
    time.join(state, sent);
    for (ring.rewind(); ring.step() && !sent; ) {
      if (kindOf(words, ring.at) === GIVEN) continue;
      time.lastStamp = Math.max(time.lastStamp + 1, timeOf(words, ring.at));
      ring.retime(STAMPED, 0, time.lastStamp);
    }
  }

  /** It is given up in the end: a sector may be damaged for good. */
  private _holds(): boolean {
    const now = this._host.clock.now();
    const isPatient = now - (this._since ?? now) < this.ms;
    const { sectors } = this._staging;
    if (sectors.log.unread) this._staging.sync();
    if (sectors.log.unread) return isPatient;
    if (sectors.rewind(sectors.state.next - this._ring.onFlash, !isPatient)) {
      this._since = undefined;
      return false;
    }
    this._since ??= now;
    if (now - this._loggedAt >= LOG_MS) {
      this._loggedAt = now;
      this._host.log("error", "the durable queue can't be read: what waits there is kept, and tried again");
    }
    return isPatient;
  }
}
