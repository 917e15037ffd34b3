import type { Batch } from "./batch.js";

/** Successful requests before a limit found by "busy" is raised a little. */
const PASSES_BEFORE_GROWTH = 4;

/**
 * Limits the points of one request. The limit is halved when the platform is busy, because a batch
 * larger than its rate limit never passes, and when it refuses, to find the rejected point. It
 * grows back: slowly after "busy".
 */
export class BatchLimit {
  points: number;
  private readonly _maxPoints: number;
  private _passed = 0;
  private _fast = false;

  constructor(mostPoints: number) {
    this._maxPoints = mostPoints;
    this.points = mostPoints;
  }

  /**
   * Halves the limit after the platform was busy with this batch or refused it. False if it was a
   * single point. `maybeLarge`: the size may be the reason, so the limit grows back slowly.
   */
  shrink(batch: Batch, maybeLarge: boolean): boolean {
    this._passed = 0;
    this._fast = !maybeLarge;
    this.points = Math.max(1, batch.points >> 1);
    return batch.points > 1;
  }

  /** The limit, for the next wake; 0: none, or it grows back fast. */
  get found(): number {
    return this.points < this._maxPoints && (this.points === 1 || !this._fast) ? this.points : 0;
  }

  /** Restores `found`. */
  restore(found: number): void {
    if (found < 1 || found >= this._maxPoints) return;
    this._fast = found === 1;
    this.points = found;
  }

  /** The platform accepted a batch. */
  done(): void {
    this._passed++;
    if (this._fast) {
      this.points = Math.min(this._maxPoints, this.points * 2);
      return;
    }
    if (this._passed < PASSES_BEFORE_GROWTH) return;
    this._passed = 0;
    this.points = Math.min(this._maxPoints, this.points + Math.ceil(this.points / 4));
  }
}
