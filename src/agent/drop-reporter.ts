import type { Host } from "../port.js";
import type { Outbox } from "./outbox.js";
import type { Time } from "./time.js";

/** While drops go on they are reported so often at most. */
const AGAIN_MS = 10_000;

/**
 * Reports as telemetry, once the platform takes telemetry again, what it will miss. The keys hold totals, so that a report
 * that came twice does no harm: `moteDroppedFull`, `moteDroppedRefused`, `moteDroppedUnreadable` (points dropped since the durable queue
 * began; without one, since the start) and `moteTimeGuessed` (points since the start whose time stamp is a guess).
 */
export class DropReporter {
  readonly #host: Host;
  readonly #time: Time;
  readonly #outbox: Outbox;
  readonly #timestamps: "device" | "platform";
  #guessed = 0;
  #guessedTold = 0;
  #guessedSent = 0;
  #dropsSent = 0;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, time: Time, outbox: Outbox, timestamps: "device" | "platform") {
    this.#host = host;
    this.#time = time;
    this.#outbox = outbox;
    this.#timestamps = timestamps;
  }

  /** The platform took points whose time stamp is a guess. */
  guessed(points: number): void {
    this.#guessed += points;
  }

  /** There is something to report, and the last report is long enough ago. */
  get due(): boolean {
    return this.untilDue === 0;
  }

  /** ms until a report may go out; undefined if there is nothing to report. */
  get untilDue(): number | undefined {
    const news = this.#outbox.drops !== this.#outbox.told || this.#guessed !== this.#guessedTold;
    if (!news) return undefined;
    return Math.max(0, Math.ceil(this.#sentAt + AGAIN_MS - this.#host.clock.now()));
  }

  /** The body of the report. */
  body(): Uint8Array {
    this.#sentAt = this.#host.clock.now();
    this.#dropsSent = this.#outbox.drops;
    this.#guessedSent = this.#guessed;
    const { full, refused, unreadable } = this.#outbox.dropped;
    const values: Record<string, number> = {};
    if (full > 0) values.moteDroppedFull = full;
    if (refused > 0) values.moteDroppedRefused = refused;
    if (unreadable > 0) values.moteDroppedUnreadable = unreadable;
    if (this.#guessed > 0) values.moteTimeGuessed = this.#guessed;
    const ts = this.#timestamps === "device" ? this.#time.now() : undefined;
    return this.#host.encode(JSON.stringify(ts === undefined ? values : { ts, values }));
  }

  /** The platform took the report. */
  done(): void {
    this.#outbox.tell(this.#dropsSent);
    this.#guessedTold = this.#guessedSent;
  }
}
