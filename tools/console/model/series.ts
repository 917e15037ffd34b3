// Points of a device's keys, and which keys a chart shows.

/** So many of one key are held. */
export const MOST_POINTS = 5_000;
const EARLIEST = Date.UTC(2001, 8, 9);
const LATEST = Date.UTC(2128, 0);
const TIMES = /(?:[tT]ime|[tT]imestamp|[dD]ate)$|(?:^|[_.\- ])(?:ts|at|since|until)$|(?:Ts|At|Since|Until)$/;

/** Whether a number is a time: milliseconds since 1970, or seconds by the key's name. */
export function isMoment(key: string, value: number): boolean {
  if (!Number.isInteger(value)) return false;
  if (value >= EARLIEST && value < LATEST) return true;
  return TIMES.test(key) && value >= EARLIEST / 1000 && value < LATEST / 1000;
}

/** True if a chart shows the value. The progress of an update has its own page. */
export function isDrawable(key: string, value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && !/^[fs]w_/.test(key) && !isMoment(key, value);
}

/** Points of one key in the order of their times. */
export class Series {
  /** In milliseconds since 1970. */
  readonly times: number[] = [];
  readonly values: number[] = [];

  /** One that comes late goes to its place; a second one of the same time replaces the first. */
  add(ts: number, value: number): void {
    let at = this.times.length;
    while (at > 0 && (this.times[at - 1] as number) >= ts) at--;
    const isSame = this.times[at] === ts;
    this.times.splice(at, isSame ? 1 : 0, ts);
    this.values.splice(at, isSame ? 1 : 0, value);
    if (this.times.length > MOST_POINTS) {
      this.times.shift();
      this.values.shift();
    }
  }

  /** Number of points from `from` on, before `to`. */
  countIn(from: number, to: number): number {
    return this.times.filter((ts) => ts >= from && ts < to).length;
  }
}
