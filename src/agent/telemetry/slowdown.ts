// Whether what the platform takes keeps up with what is recorded, while it says "not now" (429, an empty 500, a proxy's 503): reported once when what waited a
// minute ago is not all delivered, and once when it is again. Outages and refusals have their own reports.
import type { Events } from "../../events.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Outbox } from "../queue/index.js";

const MINUTE_MS = 60_000;

export class Slowdown {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _outbox: Outbox;
  /** All points below this number waited at `_since`; undefined: nothing slows delivery down. */
  private _mark: number | undefined;
  private _since = 0;
  /** Points dropped by then: they leave the outbox, too. */
  private _drops = 0;
  private _cancel: (() => void) | undefined;
  private _behind = false;

  constructor(session: PlatformSession, events: Events, outbox: Outbox) {
    this._session = session;
    this._events = events;
    this._outbox = outbox;
  }

  /** The platform was busy with a batch. */
  busy(): void {
    if (this._mark !== undefined) return;
    this._begin();
    this._cancel = this._session.host.clock.timer(MINUTE_MS, () => this._late());
  }

  /** The platform took points. */
  passed(): void {
    const { first, waiting, drops } = this._outbox;
    // A stop lay between.
    if (this._mark === undefined && this._behind) this._begin();
    if (this._mark === undefined || first < this._mark) return;
    // What was dropped is not delivered.
    const whole = drops === this._drops;
    const isLate = this._behind && this._session.host.clock.now() - this._since > MINUTE_MS;
    if (waiting > 0 && (isLate || !whole)) {
      this._begin();
      return;
    }
    this.clear();
    if (!this._behind) return;
    this._behind = false;
    this._session.host.log("info", "delivery has caught up");
    this._events.emit("delivery", { behind: false, points: waiting });
  }

  /** Nobody waits for it any more. */
  clear(): void {
    this._cancel?.();
    this._cancel = undefined;
    this._mark = undefined;
  }

  private _begin(): void {
    this._mark = this._outbox.next;
    this._since = this._session.host.clock.now();
    this._drops = this._outbox.drops;
  }

  private _late(): void {
    this._cancel = undefined;
    if (this._behind) return;
    if (this._session.online !== true) {
      // An outage is reported as one.
      this.clear();
      return;
    }
    this._behind = true;
    const points = this._outbox.waiting;
    this._session.host.log(
      "warn",
      `delivery is behind by a minute: the platform takes less, ${points} points wait`,
    );
    this._events.emit("delivery", { behind: true, points });
  }
}
