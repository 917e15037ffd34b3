import type { Batch } from "./batch.js";

/** Requests that must pass before a limit found by "busy" is tried a little higher. */
const STEADY = 4;

/**
 * How much goes in one request. Halved when the platform is busy (its rate limit may be a bucket smaller than the batch, which never passes) or
 * refuses (to find the point that it will not have), down to one point and then to one key; grows back, slowly after "busy".
 */
export class BatchLimit {
  points: number;
  keys = Number.POSITIVE_INFINITY;
  private readonly _most: number;
  private _passed = 0;
  private _fast = false;

  constructor(mostPoints: number) {
    this._most = mostPoints;
    this.points = mostPoints;
  }

  /** The platform was busy with this batch. False if it can't be made smaller. */
  busy(batch: Batch): boolean {
    return this.refused(batch, true);
  }

  /**
   * The platform refused this batch for its content. False if it holds one point only. `large`: because it is too much, so that a part of the point's keys may
   * pass, and the limit is to grow back slowly.
   */
  refused(batch: Batch, large: boolean): boolean {
    this._passed = 0;
    this._fast = !large;
    if (batch.points > 1) {
      this.points = batch.points >> 1;
      return true;
    }
    this.points = 1;
    const keys = batch.toKey - batch.fromKey;
    if (!large || keys < 2) return false;
    this.keys = Math.ceil(keys / 2);
    return true;
  }

  /** The first point goes by itself: it was refused before a sleep. */
  alone(): void {
    this._fast = true;
    this.points = 1;
  }

  /** The platform took this batch. */
  done(batch: Batch): void {
    this._passed++;
    if (this._fast) {
      this.points = Math.min(this._most, this.points * 2);
      return;
    }
    if (this._passed < STEADY) return;
    this._passed = 0;
    if (this.keys < batch.keys) this.keys += Math.ceil(this.keys / 4);
    else {
      this.keys = Number.POSITIVE_INFINITY;
      this.points = Math.min(this._most, this.points + Math.ceil(this.points / 4));
    }
  }
}
