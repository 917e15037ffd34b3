import type { Outcome } from "../http/outcome.js";
import type { Host } from "../port.js";
import type { AbortSignalLike } from "./abort-signal.js";
import { type Pace, RETRY_AFTER_FLOOR_MS, waitMs } from "./pace.js";

const MINUTE_MS = 60_000;

/** The session, as far as a pacer knows it. */
interface Shared {
  readonly host: Host;
  readonly running: boolean;
  /** Time of the last answer. */
  readonly answeredAt: number;
  /** ms until a request may be sent, at `until` at the earliest; undefined: not without a token. */
  untilFreeMs(until: number): number | undefined;
  /** Resolves when a request may be sent, the session stops, at `end`, or on abort. */
  ready(until: number, end?: number, signal?: AbortSignalLike): Promise<void>;
}

/** Tells a route when it may ask again (pace.ts). The session reports each of its requests. */
export class Pacer {
  private readonly _session: Shared;
  private readonly _pace: Pace;
  /** Consecutive outcomes that were not `done`. */
  private _count = 0;
  private _until = 0;
  /** Time when the budget is whole again; this encodes its level. */
  private _wholeAt = 0;

  constructor(session: Shared, pace: Pace) {
    this._session = session;
    this._pace = pace;
  }

  /**
   * Resolves when a request may be sent: there is a token and nothing to wait for. Also resolves
   * when the session stops, at `end` and on abort, so check `session.running`.
   */
  ready(end?: number, signal?: AbortSignalLike): Promise<void> {
    return this._session.ready(this._dueAt, end, signal);
  }

  /**
   * ms until a request may be sent; 0: now; undefined: not without a token. Loops are notified when
   * it becomes shorter.
   */
  get untilFreeMs(): number | undefined {
    return this._session.untilFreeMs(this._dueAt);
  }

  /** ms until the route itself may ask again; 0: now. */
  get delayMs(): number {
    return Math.max(0, Math.ceil(this._dueAt - this._now));
  }

  private get _dueAt(): number {
    return Math.max(this._until, this._wholeAt + (1 - this._pace.burst) * this._tokenMs);
  }

  private get _tokenMs(): number {
    return MINUTE_MS / this._pace.perMinute;
  }

  private get _now(): number {
    return this._session.host.clock.now();
  }

  /** A request is sent, and counts in the budget. */
  spend(): void {
    this._wholeAt = Math.max(this._wholeAt, this._now) + this._tokenMs;
  }

  /** The last request brought `bytes`, which may pay for it. */
  brought(bytes: number): void {
    const { freeBytes } = this._pace;
    if (freeBytes) this._refund(Math.min(1, bytes / freeBytes));
  }

  /** `part` of a request does not count after all. */
  private _refund(part: number): void {
    this._wholeAt -= part * this._tokenMs;
  }

  /** The request sent at `since` ended. */
  ended(outcome: Outcome, since: number): void {
    if (outcome.kind === "done" && this._pace.acceptedAreFree) this._refund(1);
    // The platform answered others meanwhile, so the device's own wait does not slow this route
    // down.
    if (outcome.kind === "lost" && this._session.running && this._session.answeredAt > since) this.slow();
  }

  /** What an outcome means for the next request, where the caller has no reason to differ. */
  after(outcome: Outcome): void {
    if (outcome.kind === "done") this.clear();
    else if (outcome.kind !== "lost") this.slow(outcome);
  }

  /** The platform is busy: waits longer each time (`waits`), or as long as `outcome` asks. */
  slow(outcome?: Outcome): void {
    const retryAfterMs = outcome?.kind === "busy" ? outcome.retryAfterMs : undefined;
    const ownMs = waitMs(this._session.host, this._pace.waits, this._count++);
    // A Retry-After of 0 must not end all waiting.
    this.pause(
      retryAfterMs === undefined ? ownMs : Math.max(retryAfterMs, Math.min(ownMs, RETRY_AFTER_FLOOR_MS)),
    );
  }

  /** A body was refused: waits longer each time (`refused`; without such a list, `waits`). */
  hold(): void {
    const { refused, waits } = this._pace;
    this.pause(waitMs(this._session.host, refused ?? waits, this._count++));
  }

  /**
   * Waits `ms` from now instead of a longer or shorter wait before. Does not count as a failure,
   * so the next `slow` or `hold` waits no longer for it.
   */
  pause(ms: number): void {
    this._until = this._now + ms;
  }

  /** The platform accepted a request: no wait, and the next one is short. */
  clear(): void {
    this._until = 0;
    this._count = 0;
  }
}
