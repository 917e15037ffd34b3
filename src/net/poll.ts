// How long a poll may last: as long as the platform and everything before it lets it. Found out by trying, kept once found.
import type { Host } from "../port.js";
import { share } from "./backoff.js";
import { isSilence, type Outcome } from "./outcome.js";

/**
 * `delivered`: it brought something. `ended`: it was held and brought nothing: ask again at once. `busy`: it was turned away: ask later.
 * `lost`: no answer of the platform.
 */
export type PollVerdict = "delivered" | "ended" | "busy" | "lost";

/** What is worth keeping across restarts, together with the base URL it was found for. */
export interface PollCeiling {
  /** No poll asks for more. */
  readonly ceilingMs: number;
  /** Time still to be spent polling before a longer one is tried. */
  readonly restMs: number;
}

const START_MS = 25_000;
const LONGEST_MS = 300_000;
const SHORTEST_MS = 5000;
/** Between the end of a poll and its deadline. */
const MARGIN_MS = 15_000;
/** Polls that lasted as long as they asked before a longer one is tried. */
const ENDS = 20;
const GROWTH = 1.5;
const SAFE = 0.8;
/** Ends that may have had another cause, in a row: two polls, run side by side, fail together once when the network does. */
const DOUBTS = 3;
/**
 * A longer poll is not tried for 24 h after one was cut: each try can cost RPCs. Counted in time spent polling, which needs no
 * clock and goes on after a restart; two polls run side by side and overlap, hence more than twice 24 h.
 */
const REST_MS = 52 * 3_600_000;

export class PollTiming {
  #askedMs = START_MS;
  #ceilingMs = LONGEST_MS;
  #restMs = 0;
  #ends = 0;
  #doubts = 0;
  /** The longest poll that came back. */
  #provenMs = 0;

  /** `kept`: what `ceiling` gave in an earlier run. Anything that makes no sense is taken for nothing. */
  constructor(kept?: PollCeiling) {
    if (!kept || !(kept.ceilingMs >= SHORTEST_MS && kept.ceilingMs < LONGEST_MS && kept.restMs > 0)) return;
    this.#ceilingMs = Math.floor(kept.ceilingMs);
    this.#restMs = Math.min(kept.restMs, REST_MS);
    this.#askedMs = Math.min(START_MS, this.#ceilingMs);
  }

  /** What the next poll asks for, in whole ms: 5,000 to 300,000. */
  get askedMs(): number {
    return this.#askedMs;
  }

  /** The deadline of a poll that asks for `askedMs`. */
  get deadlineMs(): number {
    return this.#askedMs + MARGIN_MS;
  }

  /** What the first poll after a loss asks for: half of `askedMs` at least. Devices that lost the platform together would else poll in step from then on. */
  afterLoss(host: Pick<Host, "random">): number {
    return Math.ceil(this.#askedMs * (0.5 + share(host) / 2));
  }

  /** To be kept, if there is any. */
  get ceiling(): PollCeiling | undefined {
    return this.#restMs > 0 ? { ceilingMs: this.#ceilingMs, restMs: this.#restMs } : undefined;
  }

  /** What the end of a poll that asked for `askedMs` means, `tookMs` after it was sent. Learns from it. `heard`: meanwhile other requests were answered. */
  judge(outcome: Outcome, tookMs: number, heard = true, askedMs = this.#askedMs): PollVerdict {
    this.#rest(tookMs);
    if (outcome.kind === "lost") {
      this.#cutShort(outcome, tookMs, heard);
      return "lost";
    }
    this.#doubts = 0;
    if (outcome.kind === "refused") return "busy";
    if (outcome.kind === "done" && outcome.body.length > 0) return "delivered";
    const { status } = outcome;
    if (outcome.kind === "busy" && status !== 408 && status !== 503 && status !== 504) return "busy";
    if (tookMs < askedMs / 2) return "busy";
    if (status === 503 || status === 504) this.#limit(tookMs);
    else if (status === 408) this.#lasted(tookMs);
    return "ended";
  }

  #lasted(tookMs: number): void {
    this.#provenMs = Math.max(this.#provenMs, tookMs);
    // A poll that asked for less (another took its time, or the caller has but one connection) proves nothing about longer ones.
    if (tookMs < this.#askedMs * SAFE) return;
    this.#ends++;
    if (this.#ends < ENDS) return;
    this.#ends = 0;
    this.#askedMs = Math.min(Math.floor(this.#askedMs * GROWTH), this.#ceilingMs);
  }

  #cutShort(outcome: Outcome, tookMs: number, heard: boolean): void {
    if (tookMs < this.#askedMs / 2) return;
    const silent = isSilence(outcome);
    const lastedMs = silent ? tookMs - MARGIN_MS : tookMs;
    // Nothing else was answered either: it is the network that is down, however long that takes.
    if (silent && !heard && lastedMs <= this.#provenMs) return;
    this.#doubts++;
    // A poll of this length came back before: then it may as well be the network that is down.
    if (this.#doubts < DOUBTS && (!silent || lastedMs <= this.#provenMs)) return;
    this.#limit(lastedMs);
  }

  #limit(tookMs: number): void {
    const ceiling = Math.max(SHORTEST_MS, Math.floor(tookMs * SAFE));
    this.#ceilingMs = Math.min(this.#ceilingMs, ceiling);
    this.#askedMs = Math.min(this.#askedMs, this.#ceilingMs);
    this.#restMs = REST_MS;
    this.#ends = 0;
    this.#doubts = 0;
    this.#provenMs = 0;
  }

  #rest(tookMs: number): void {
    if (this.#restMs <= 0) return;
    this.#restMs -= tookMs;
    if (this.#restMs <= 0) this.#ceilingMs = LONGEST_MS;
  }
}
