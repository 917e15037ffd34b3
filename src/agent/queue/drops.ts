import type { Events } from "../../events.js";
import type { Host } from "../../port.js";
import type { DropReason, Drops } from "./outbox.js";

/** A burst of drops is one event, this long after its first; a lasting one again at most so often. */
const GATHER_MS = 1000;
const AGAIN_MS = 60_000;

const TEXT: { readonly [reason in DropReason]: string } = {
  full: "there was no room",
  refused: "the platform refuses their content",
  unreadable: "they could not be read back",
};

/** Emits and logs drops, once a burst. The numbers add up: each point is in one event. */
export class DropNotifier {
  private readonly _host: Host;
  private readonly _events: Events;
  private readonly _pending: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _waits = false;
  private _notifiedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, events: Events) {
    this._host = host;
    this._events = events;
  }

  add(points: number, reason: DropReason): void {
    this._pending[reason] += points;
    if (this._waits) return;
    this._waits = true;
    const { clock } = this._host;
    const wait = Math.max(GATHER_MS, this._notifiedAt + AGAIN_MS - clock.now());
    clock.timer(wait, () => this._notify());
  }

  private _notify(): void {
    this._waits = false;
    this._notifiedAt = this._host.clock.now();
    this._notifyOne("full");
    this._notifyOne("refused");
    this._notifyOne("unreadable");
  }

  private _notifyOne(reason: DropReason): void {
    const points = this._pending[reason];
    if (points === 0) return;
    this._pending[reason] = 0;
    this._host.log("warn", `${points} points dropped: ${TEXT[reason]}`);
    this._events.emit("drop", { points, reason });
  }
}
