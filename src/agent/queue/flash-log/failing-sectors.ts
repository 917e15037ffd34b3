/** A sector that failed so often is passed over. */
const FAILURES = 3;

/**
 * Which sectors are set aside for this start, because they failed three times while others worked. If several fail without a success between, not they are bad
 * but the whole medium is (a disk that is full), and none of them is set aside for that.
 */
export class SectorsAside {
  private readonly _count: number;
  /** Positions of sectors, as often as they failed. */
  private _failures: number[] = [];
  /** The same since the last success. */
  private _recent: number[] = [];

  constructor(count: number) {
    this._count = count;
  }

  /** The sector at `at` is not to be used. */
  has(at: number): boolean {
    if (this._failures.length < FAILURES) return false;
    return this._failures.filter((one) => one === at).length >= FAILURES;
  }

  /** The sector at `at` could not be erased or written. */
  failed(at: number): void {
    this._recent.push(at);
    this._failures.push(at);
    // Half of the sectors and two more stay in use: one that is written, one that is free.
    if (this._failures.length > FAILURES * Math.max(0, (this._count >> 1) - 1)) this._failures = [];
    if (this._recent.length > FAILURES * this._count) this._recent.shift();
  }

  /** Something was written. */
  worked(): void {
    const [first] = this._recent;
    if (this._recent.some((at) => at !== first)) this._failures = [];
    this._recent = [];
  }
}
