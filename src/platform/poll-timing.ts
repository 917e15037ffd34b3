// How long a poll may last: as long as the platform and everything before it lets it. Found out by trying, kept once found.
import { isSilence, type Outcome } from "../http/outcome.js";
import type { Target } from "../http/target.js";
import type { Host } from "../port.js";
import { readStored, writeStored } from "../store.js";
import { isObject } from "../wire/text/json.js";
import { share } from "./backoff.js";

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
  private _askedMs = START_MS;
  private _ceilingMs = LONGEST_MS;
  private _restMs = 0;
  private _ends = 0;
  private _doubts = 0;
  /** The longest poll that came back. */
  private _provenMs = 0;

  /** `kept`: what `ceiling` gave in an earlier run. Anything that makes no sense is taken for nothing. */
  constructor(kept?: PollCeiling) {
    if (!kept || !(kept.ceilingMs >= SHORTEST_MS && kept.ceilingMs < LONGEST_MS && kept.restMs > 0)) return;
    this._ceilingMs = Math.floor(kept.ceilingMs);
    this._restMs = Math.min(kept.restMs, REST_MS);
    this._askedMs = Math.min(START_MS, this._ceilingMs);
  }

  /** What the next poll asks for, in whole ms: 5,000 to 300,000. */
  get askedMs(): number {
    return this._askedMs;
  }

  /** The deadline of a poll that asks for `askedMs`. */
  get deadlineMs(): number {
    return this._askedMs + MARGIN_MS;
  }

  /** What the first poll after a loss asks for: half of `askedMs` at least. Devices that lost the platform together would else poll in step from then on. */
  afterLoss(host: Pick<Host, "random">): number {
    return Math.ceil(this._askedMs * (0.5 + share(host) / 2));
  }

  /** To be kept, if there is any. */
  get ceiling(): PollCeiling | undefined {
    return this._restMs > 0 ? { ceilingMs: this._ceilingMs, restMs: this._restMs } : undefined;
  }

  /** What the end of a poll that asked for `askedMs` means, `tookMs` after it was sent. Learns from it. `heard`: meanwhile other requests were answered. */
  judge(outcome: Outcome, tookMs: number, heard = true, askedMs = this._askedMs): PollVerdict {
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
    if (status === 503 || status === 504) this._limit(tookMs);
    else if (status === 408) this._lasted(tookMs);
    return "ended";
  }

  private _lasted(tookMs: number): void {
    this._provenMs = Math.max(this._provenMs, tookMs);
    // A poll that asked for less (another took its time, or the caller has but one connection) proves nothing about longer ones.
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
    // Nothing else was answered either: it is the network that is down, however long that takes.
    if (silent && !heard && lastedMs <= this._provenMs) return;
    this._doubts++;
    // A poll of this length came back before: then it may as well be the network that is down.
    if (this._doubts < DOUBTS && (!silent || lastedMs <= this._provenMs)) return;
    this._limit(lastedMs);
  }

  private _limit(tookMs: number): void {
    const ceiling = Math.max(SHORTEST_MS, Math.floor(tookMs * SAFE));
    this._ceilingMs = Math.min(this._ceilingMs, ceiling);
    this._askedMs = Math.min(this._askedMs, this._ceilingMs);
    this._restMs = REST_MS;
    this._ends = 0;
    this._doubts = 0;
    this._provenMs = 0;
  }

  private _rest(tookMs: number): void {
    if (this._restMs <= 0) return;
    this._restMs -= tookMs;
    if (this._restMs <= 0) this._ceilingMs = LONGEST_MS;
  }
}

// What was found out about the longest poll that the way to the platform lets pass, kept over a restart: each try costs RPCs.

const STORED = "poll";

/** The timing of polls to `target`, with the ceiling found in an earlier run. Another base URL has another way. */
export const rememberedTiming = (host: Host, target: Target): PollTiming => {
  const kept = readStored(host, STORED);
  if (!isObject(kept) || kept.to !== wayTo(target)) return new PollTiming();
  const { ceilingMs, restMs } = kept;
  if (typeof ceilingMs !== "number" || typeof restMs !== "number") return new PollTiming();
  return new PollTiming({ ceilingMs, restMs });
};

/** To be called after polls: stores the ceiling when it has changed. */
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

  keep(): void {
    const { ceiling } = this._timing;
    if (ceiling?.ceilingMs === this._stored) return;
    this._stored = ceiling?.ceilingMs;
    if (ceiling) writeStored(this._host, STORED, { to: wayTo(this._target), ...ceiling });
    else this._host.store.delete(STORED);
  }
}

const wayTo = (target: Target): string => `${target.secure}/${target.authority}${target.prefix}`;
