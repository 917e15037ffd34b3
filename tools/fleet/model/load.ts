// What a server sees, second by second.

/** Points, requests and bytes of one second, and connections opened in it. */
export const KINDS = ["requests", "connections", "bytes", "points"] as const;
export type Kind = (typeof KINDS)[number];

/** What came second by second; what comes after the last second is not counted. */
export class Load {
  readonly requests: Float64Array;
  /** Opened in each second. */
  readonly connections: Float64Array;
  /** Both ways. */
  readonly bytes: Float64Array;
  readonly points: Float64Array;
  readonly #closed: Float64Array;
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
    this.requests = new Float64Array(seconds);
    this.connections = new Float64Array(seconds);
    this.bytes = new Float64Array(seconds);
    this.points = new Float64Array(seconds);
    this.#closed = new Float64Array(seconds);
  }

  /** `times`: -1 takes one back. */
  request(atMs: number, bytes: number, points = 0, times: 1 | -1 = 1): void {
    const second = Math.floor(atMs / 1000);
    if (second >= this.seconds) return;
    this.requests[second]! += times;
    this.bytes[second]! += times * bytes;
    this.points[second]! += times * points;
  }

  answer(atMs: number, bytes: number): void {
    const second = Math.floor(atMs / 1000);
    if (second < this.seconds) this.bytes[second]! += bytes;
  }

  opened(atMs: number, bytes: number): void {
    const second = Math.floor(atMs / 1000);
    if (second >= this.seconds) return;
    this.connections[second]! += 1;
    this.bytes[second]! += bytes;
  }

  closed(atMs: number): void {
    const second = Math.floor(atMs / 1000);
    if (second < this.seconds) this.#closed[second]! += 1;
  }

  /** How many connections are open at the end of each second. */
  open(): Float64Array {
    let open = 0;
    return this.connections.map((opened, second) => {
      open += opened - this.#closed[second]!;
      return open;
    });
  }
}

/** A range of seconds in numbers. */
export interface Figures {
  readonly mean: number;
  readonly busiestMinute: number;
  readonly busiestSecond: number;
}

/** A second's mean from `from` to `to`, in the busiest 60 seconds of that, and in the busiest one. */
export function figuresOf(all: Float64Array, from = 0, to = all.length): Figures {
  const width = Math.min(60, to - from);
  let sum = 0;
  let busiestMinute = 0;
  let busiestSecond = 0;
  let minute = 0;
  for (let second = from; second < to; second++) {
    const value = all[second]!;
    sum += value;
    minute += value - (second - from >= width ? all[second - width]! : 0);
    busiestMinute = Math.max(busiestMinute, minute / width);
    busiestSecond = Math.max(busiestSecond, value);
  }
  return { mean: sum / (to - from), busiestMinute, busiestSecond };
}
