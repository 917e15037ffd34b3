import type { Host } from "../../port.js";
import type { Events } from "../common/events.js";

export type DropReason = "full" | "refused" | "unreadable";

/** Points dropped, by reason. */
export type Drops = { [reason in DropReason]: number };

/** A burst of drops is told as one, this long after its first; a lasting one again at most so often. */
const GATHER_MS = 1000;
const AGAIN_MS = 60_000;

const TEXT: { readonly [reason in DropReason]: string } = {
  full: "there was no room",
  refused: "the platform refuses their content",
  unreadable: "they could not be read back",
};

/** Tells drops by event and in the log, once a burst. The numbers add up: each point is told once. */
export class DropTeller {
  private readonly _host: Host;
  private readonly _events: Events;
  private readonly _untold: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _waits = false;
  private _toldAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, events: Events) {
    this._host = host;
    this._events = events;
  }

  add(points: number, reason: DropReason): void {
    this._untold[reason] += points;
    if (this._waits) return;
    this._waits = true;
    const { clock } = this._host;
    const wait = Math.max(GATHER_MS, this._toldAt + AGAIN_MS - clock.now());
    clock.timer(wait, () => this._tell());
  }

  private _tell(): void {
    this._waits = false;
    this._toldAt = this._host.clock.now();
    this._tellOne("full");
    this._tellOne("refused");
    this._tellOne("unreadable");
  }

  private _tellOne(reason: DropReason): void {
    const points = this._untold[reason];
    if (points === 0) return;
    this._untold[reason] = 0;
    this._host.log("warn", `${points} points dropped: ${TEXT[reason]}`);
    this._events.emit("drop", { points, reason });
  }
}
