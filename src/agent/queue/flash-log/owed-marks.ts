// Marks that failed while flash did: what they said of dropped points is said again when it works, so that each counts as what it was.
import { DONE, REFUSED, TOLD, UNREADABLE } from "../log-entry.js";

/** Where marks are written. */
interface Log {
  readonly state: { readonly confirmed: number };
  mark(kind: number, number: number): boolean;
}

export class OwedMarks {
  /** Points below this number are dealt with as flash has it. */
  private _said = 0;
  /** Points by kind: refused, dropped for want of room, unreadable. */
  private readonly _points: [number, number, number] = [0, 0, 0];

  /** Flash has it all, up to `confirmed`. */
  none(confirmed: number): void {
    this._said = confirmed;
    this._points.fill(0);
  }

  /** A mark of `points` could not be written. */
  owe(kind: number, points: number): void {
    if (kind >= REFUSED && kind <= UNREADABLE) (this._points[kind - REFUSED] as number) += points;
  }

  /** A mark was written. */
  written(kind: number, number: number): true {
    if (kind !== TOLD) this._said = number;
    return true;
  }

  /** Writes what is owed, and that all that is dealt with is. False if that failed. */
  pay(log: Log): boolean {
    const { confirmed } = log.state;
    for (let i = 0; i < this._points.length; i++) {
      const points = this._points[i] as number;
      if (points > 0 && !log.mark(REFUSED + i, Math.min(this._said + points, confirmed))) return false;
      this._points[i] = 0;
    }
    return log.mark(DONE, confirmed);
  }
}
