// Learns how long polls may last on the way to the platform, by trying; stores the result.
import { isSilence, type Outcome } from "../http/outcome.js";
import type { Target } from "../http/target.js";
import type { Host } from "../port.js";
import { deleteStored, readStored, writeStored } from "../store.js";
import { isObject } from "../wire/text/json.js";
import { random01 } from "./pace.js";

/**
 * Result of a poll. `delivered`: it brought data. `ended`: it was held and brought nothing; poll
 * again at once. `busy`: it was rejected; poll later. `lost`: no answer.
 */
export type PollVerdict = "delivered" | "ended" | "busy" | "lost";

/** The stored result, together with the base URL. */
export interface PollCeiling {
  /** Maximum duration of polls. */
  readonly ceilingMs: number;
  /** Polling time left until a longer poll is tried. */
  readonly restMs: number;
}

const START_MS = 25_000;
const LONGEST_MS = 300_000;
const MIN_MS = 5000;
/** Time between the end of a poll and its deadline. */
const MARGIN_MS = 15_000;
/** Number of full-length polls before a longer one is tried. */
const ENDS = 20;
const GROWTH = 1.5;
const SAFE = 0.8;
/**
 * Servers look for polls to cut once a second, and the answer takes its time. So a poll may last
 * until this long before an answered cut, unless that was cut, too.
 */
const SAFE_MS = 3000;
/**
 * Number of consecutive ends with an unclear cause: two parallel polls fail together once when the
 * network does.
 */
const DOUBTS = 3;
/**
 * A longer poll is tried again 24 h after one was cut, because each try can lose RPCs. Counted as
 * polling time, which needs no clock and continues after a restart. Two polls overlap, hence more
 * than twice 24 h.
 */
const RETRY_LONGER_MS = 52 * 3_600_000;

export class PollTiming {
  private _askedMs = START_MS;
  private _ceilingMs = LONGEST_MS;
  private _restMs = 0;
  private _ends = 0;
  private _doubts = 0;
  /** The longest poll that returned normally. */
  private _longestEndedMs = 0;

  /** `kept`: `ceiling` of an earlier run. Invalid values are ignored. */
  constructor(kept?: PollCeiling) {
    if (!kept || !(kept.ceilingMs >= MIN_MS && kept.ceilingMs < LONGEST_MS && kept.restMs > 0)) return;
    this._ceilingMs = Math.floor(kept.ceilingMs);
    this._restMs = Math.min(kept.restMs, RETRY_LONGER_MS);
    this._askedMs = Math.min(START_MS, this._ceilingMs);
  }

  /** Duration of the next poll in whole ms, 5,000 to 300,000. */
  get askedMs(): number {
    return this._askedMs;
  }

  /** Deadline of a poll with duration `askedMs`. */
  get deadlineMs(): number {
    return this._askedMs + MARGIN_MS;
  }

  /**
   * Duration of the first poll after a loss: random from half of `askedMs` on, so that devices do
   * not poll in step.
   */
  afterLoss(host: Pick<Host, "random">): number {
    return Math.ceil(this._askedMs * (0.5 + random01(host) / 2));
  }

  /** The result to store; undefined if there is none. */
  get ceiling(): PollCeiling | undefined {
    return this._restMs > 0 ? { ceilingMs: this._ceilingMs, restMs: this._restMs } : undefined;
  }

  /**
   * Learns from a poll that ended `tookMs` after it was sent, and returns its result. `heard`:
   * other requests were answered meanwhile.
   */
  pollEnded(outcome: Outcome, tookMs: number, heard = true, askedMs = this._askedMs): PollVerdict {
    this._rest(tookMs);
    if (outcome.kind === "lost") {
      this._cutShort(outcome, tookMs, heard);
      return "lost";
    }
    this._doubts = 0;
    if (outcome.kind === "refused") return "busy";
    if (outcome.kind === "done" && outcome.body.length > 0) return "delivered";
    const { status } = outcome;
    if (outcome.kind === "busy" && status !== 408 && status !== 503 && status !== 504) return "busy";
    if (tookMs < askedMs / 2) return "busy";
    if (status === 503 || status === 504) this._cut(tookMs, askedMs);
    else if (status === 408) this._lastedFullTime(tookMs);
    return "ended";
  }

  /** The platform or a proxy answered before the poll was over. */
  private _cut(tookMs: number, askedMs: number): void {
    const wasSafe = this._restMs > 0 && askedMs <= this._ceilingMs;
    this._limit(Math.max(tookMs * SAFE, wasSafe ? 0 : tookMs - SAFE_MS));
  }

  private _lastedFullTime(tookMs: number): void {
    this._longestEndedMs = Math.max(this._longestEndedMs, tookMs);
    // A shorter poll proves nothing about longer ones.
    if (tookMs < this._askedMs * SAFE) return;
    this._ends++;
    if (this._ends < ENDS) return;
    this._ends = 0;
    this._askedMs = Math.min(Math.floor(this._askedMs * GROWTH), this._ceilingMs);
  }

  private _cutShort(outcome: Outcome, tookMs: number, heard: boolean): void {
    if (tookMs < this._askedMs / 2) return;
    const silent = isSilence(outcome);
    const lastedMs = silent ? tookMs - MARGIN_MS : tookMs;
    // Nothing else was answered either, so the network is down.
    if (silent && !heard && lastedMs <= this._longestEndedMs) return;
    this._doubts++;
    // A poll of this length returned before, so the network may be down.
    if (this._doubts < DOUBTS && (!silent || lastedMs <= this._longestEndedMs)) return;
    this._limit(lastedMs * SAFE);
  }

  private _limit(ms: number): void {
    const ceiling = Math.max(MIN_MS, Math.floor(ms));
    this._ceilingMs = Math.min(this._ceilingMs, ceiling);
    this._askedMs = Math.min(this._askedMs, this._ceilingMs);
    this._restMs = RETRY_LONGER_MS;
    this._ends = 0;
    this._doubts = 0;
    this._longestEndedMs = 0;
  }

  private _rest(tookMs: number): void {
    if (this._restMs <= 0) return;
    this._restMs -= tookMs;
    if (this._restMs <= 0) this._ceilingMs = LONGEST_MS;
  }
}

// The maximum duration of polls, stored over restarts, because each try can lose RPCs.

const STORED = "poll";

/** Timing of polls to `target`, with the stored maximum for the same base URL. */
export const rememberedTiming = (host: Host, target: Target): PollTiming => {
  const kept = readStored(host, STORED);
  if (!isObject(kept) || kept.to !== wayTo(target)) return new PollTiming();
  const { ceilingMs, restMs } = kept;
  if (typeof ceilingMs !== "number" || typeof restMs !== "number") return new PollTiming();
  return new PollTiming({ ceilingMs, restMs });
};

/** Stores the maximum when it changed. Call after polls. */
export class PollMemory {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _timing: PollTiming;
  private _stored: number | undefined;

  constructor(host: Host, target: Target, timing: PollTiming) {
    this._host = host;
    this._target = target;
    this._timing = timing;
    this._stored = timing.ceiling?.ceilingMs;
  }

  store(): void {
    const { ceiling } = this._timing;
    if (ceiling?.ceilingMs === this._stored) return;
    this._stored = ceiling?.ceilingMs;
    if (ceiling) writeStored(this._host, STORED, { to: wayTo(this._target), ...ceiling });
    else deleteStored(this._host, STORED);
  }
}

const wayTo = (target: Target): string => `${target.secure}/${target.authority}${target.prefix}`;
