// Status entries that could not be written while flash failed: what they say of dropped points is written when flash works again, so that each counts as what it was.
import { DONE, REFUSED, REPORTED, UNREADABLE } from "../log-entry.js";

/** Where status entries are written. */
interface Log {
  readonly state: { readonly confirmed: number };
  writeStatus(kind: number, number: number): boolean;
}

export class UnwrittenStatus {
  /** Points below this number are dealt with as flash has it. */
  private _written = 0;
  /** Points by kind: refused, dropped for want of room, unreadable. */
  private readonly _points: [number, number, number] = [0, 0, 0];

  /** Flash has it all, up to `confirmed`. */
  none(confirmed: number): void {
    this._written = confirmed;
    this._points.fill(0);
  }

  /** The status of `points` could not be written. */
  add(kind: number, points: number): void {
    if (kind >= REFUSED && kind <= UNREADABLE) (this._points[kind - REFUSED] as number) += points;
  }

  /** A status entry was written. */
  written(kind: number, number: number): true {
    if (kind !== REPORTED) this._written = number;
    return true;
  }

  /** Writes what is missing, and how far all points are dealt with. False if that failed. */
  write(log: Log): boolean {
    const { confirmed } = log.state;
    for (let i = 0; i < this._points.length; i++) {
      const points = this._points[i] as number;
      if (points > 0 && !log.writeStatus(REFUSED + i, Math.min(this._written + points, confirmed)))
        return false;
      this._points[i] = 0;
    }
    return log.writeStatus(DONE, confirmed);
  }
}
