// Learns how long polls may last on the way to the platform, by trying. Each start learns it again.
import { isSilence, type Outcome } from "../http/outcome.js";
import type { Host } from "../port.js";
import { random01 } from "./pace.js";

/**
 * Result of a poll. `delivered`: it brought data. `ended`: it was held and brought nothing; poll
 * again at once. `busy`: it was rejected; poll later. `lost`: no answer.
 */
export type PollVerdict = "delivered" | "ended" | "busy" | "lost";

const START_MS = 25_000;
const LONGEST_MS = 300_000;
const MIN_MS = 5000;
/** Time between the end of a poll and its deadline. */
export const MARGIN_MS = 15_000;
/** Number of full-length polls before a longer one is tried. */
const ENDS = 20;
const GROWTH = 1.5;
const SAFE = 0.8;
/**
 * Servers look for polls to cut once a second, and the answer takes its time. So a poll may last
 * until this long before an answered cut.
 */
const SAFE_MS = 3000;
/**
 * Consecutive ends with an unclear cause that count as a cut: two parallel polls fail together once
 * when the network does.
 */
const UNCLEAR_ENDS = 3;
/**
 * A longer poll is tried again after this polling time, because each try can lose RPCs. Two polls
 * overlap, hence about a day.
 */
const RETRY_LONGER_MS = 52 * 3_600_000;

export class PollTiming {
  /** Duration of the next poll in whole ms, 5,000 to 300,000. */
  askedMs = START_MS;
  private _ceilingMs = LONGEST_MS;
  /** Polling time left until a longer poll than the ceiling is tried. */
  private _restMs = 0;
  private _ends = 0;
  private _unclearEnds = 0;
  /** The longest poll that returned normally. */
  private _longestEndedMs = 0;

  /**
   * Duration of the first poll after a loss: random from half of `askedMs` on, so that devices do
   * not poll in step.
   */
  afterLoss(host: Pick<Host, "random">): number {
    return Math.ceil(this.askedMs * (0.5 + random01(host) / 2));
  }

  /**
   * Learns from a poll that ended `tookMs` after it was sent, and returns its result. `heard`:
   * other requests were answered meanwhile.
   */
  pollEnded(outcome: Outcome, tookMs: number, heard = true, askedMs = this.askedMs): PollVerdict {
    this._restMs -= tookMs;
    if (this._restMs <= 0) this._ceilingMs = LONGEST_MS;
    if (outcome.kind === "lost") {
      this._cutShort(outcome, tookMs, heard);
      return "lost";
    }
    this._unclearEnds = 0;
    if (outcome.kind === "refused") return "busy";
    if (outcome.kind === "done" && outcome.body.length > 0) return "delivered";
    const { status } = outcome;
    if (outcome.kind === "busy" && status !== 408 && status !== 503 && status !== 504) return "busy";
    if (tookMs < askedMs / 2) return "busy";
    if (status === 503 || status === 504) this._limit(Math.min(tookMs, askedMs) - SAFE_MS);
    else if (status === 408) this._lastedFullTime(tookMs);
    return "ended";
  }

  private _lastedFullTime(tookMs: number): void {
    this._longestEndedMs = Math.max(this._longestEndedMs, tookMs);
    // A shorter poll proves nothing about longer ones.
    if (tookMs < this.askedMs * SAFE) return;
    this._ends++;
    if (this._ends < ENDS) return;
    this._ends = 0;
    this.askedMs = Math.min(Math.floor(this.askedMs * GROWTH), this._ceilingMs);
  }

  private _cutShort(outcome: Outcome, tookMs: number, heard: boolean): void {
    if (tookMs < this.askedMs / 2) return;
    const silent = isSilence(outcome);
    const lastedMs = silent ? tookMs - MARGIN_MS : tookMs;
    // Nothing else was answered either, so the network is down.
    if (silent && !heard && lastedMs <= this._longestEndedMs) return;
    this._unclearEnds++;
    // A poll of this length returned before, so the network may be down.
    if (this._unclearEnds < UNCLEAR_ENDS && (!silent || lastedMs <= this._longestEndedMs)) return;
    this._limit(lastedMs * SAFE);
  }

  private _limit(ms: number): void {
    const ceiling = Math.max(MIN_MS, Math.floor(ms));
    this._ceilingMs = Math.min(this._ceilingMs, ceiling);
    this.askedMs = Math.min(this.askedMs, this._ceilingMs);
    this._restMs = RETRY_LONGER_MS;
    this._ends = 0;
    this._unclearEnds = 0;
    this._longestEndedMs = 0;
  }
}
