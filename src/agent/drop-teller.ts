import type { Host } from "../port.js";
import type { Events } from "./events.js";

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
  readonly #host: Host;
  readonly #events: Events;
  readonly #untold: Drops = { full: 0, refused: 0, unreadable: 0 };
  #waits = false;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, events: Events) {
    this.#host = host;
    this.#events = events;
  }

  add(points: number, reason: DropReason): void {
    this.#untold[reason] += points;
    if (this.#waits) return;
    this.#waits = true;
    const { clock } = this.#host;
    const wait = Math.max(GATHER_MS, this.#toldAt + AGAIN_MS - clock.now());
    clock.timer(wait, () => this.#tell());
  }

  #tell(): void {
    this.#waits = false;
    this.#toldAt = this.#host.clock.now();
    this.#tellOne("full");
    this.#tellOne("refused");
    this.#tellOne("unreadable");
  }

  #tellOne(reason: DropReason): void {
    const points = this.#untold[reason];
    if (points === 0) return;
    this.#untold[reason] = 0;
    this.#host.log("warn", `${points} points dropped: ${TEXT[reason]}`);
    this.#events.emit("drop", { points, reason });
  }
}
