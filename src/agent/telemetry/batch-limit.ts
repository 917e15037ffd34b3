import type { Batch } from "./batch.js";

/** Successful requests before a limit found by "busy" is raised a little. */
const PASSES_BEFORE_GROWTH = 4;

/**
 * Limits the size of one request. The limit is halved when the platform is busy, because a batch
 * larger than its rate limit never passes, and when it refuses, to find the rejected point. It goes
 * down to one point and then to one key, and grows back: slowly after "busy".
 */
export class BatchLimit {
  points: number;
  keys = Number.POSITIVE_INFINITY;
  private readonly _maxPoints: number;
  private _passed = 0;
  private _fast = false;

  constructor(mostPoints: number) {
    this._maxPoints = mostPoints;
    this.points = mostPoints;
  }

  /**
   * Halves the limit after the platform was busy with this batch or refused it. False if a smaller
   * batch is not possible. `maybeLarge`: the size may be the reason, so a part of a single point's
   * keys may pass, and the limit grows back slowly.
   */
  shrink(batch: Batch, maybeLarge: boolean): boolean {
    this._passed = 0;
    this._fast = !maybeLarge;
    if (batch.points > 1) {
      this.points = batch.points >> 1;
      return true;
    }
    this.points = 1;
    const keys = batch.toKey - batch.fromKey;
    if (!maybeLarge || keys < 2) return false;
    this.keys = Math.ceil(keys / 2);
    return true;
  }

  /** Sends the first point alone, because it was refused before a sleep. */
  alone(): void {
    this._fast = true;
    this.points = 1;
  }

  /** The platform accepted this batch. */
  done(batch: Batch): void {
    this._passed++;
    if (this._fast) {
      this.points = Math.min(this._maxPoints, this.points * 2);
      return;
    }
    if (this._passed < PASSES_BEFORE_GROWTH) return;
    this._passed = 0;
    if (this.keys < batch.keys) this.keys += Math.ceil(this.keys / 4);
    else {
      this.keys = Number.POSITIVE_INFINITY;
      this.points = Math.min(this._maxPoints, this.points + Math.ceil(this.points / 4));
    }
  }
}
