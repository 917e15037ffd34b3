// Deadlines and waits.

import type { Outcome } from "../http/outcome.js";
import type { Backoff } from "../platform/backoff.js";
import type { Clock, Host } from "../port.js";
import { ReportError, refusal } from "./errors.js";

/** A host's timer goes no further than 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/** Between two attempts while the platform is busy, if it does not say itself: somebody waits for the report. */
export const LONGEST_WAIT_MS = 30_000;

/** When a call must be over, by the host's monotonic clock. Throws `BAD_VALUE` unless it is more than 0 ms, up to 20 days. */
export const endOf = (clock: Clock, timeoutMs: number): number => {
  if (timeoutMs > 0 && timeoutMs <= LONGEST_MS) return clock.now() + timeoutMs;
  throw new ReportError(
    "BAD_VALUE",
    "invalid timeoutMs: expected a number of ms, more than 0 and up to 20 days",
  );
};

/** Waits of one client: over when they are due, or all at once when the client is closed. */
export class Pauses {
  private readonly _clock: Clock;
  private _waiting: (() => void)[] = [];
  private _closed = false;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  get closed(): boolean {
    return this._closed;
  }

  /** Resolves when `done` does, after `ms`, or when this is closed. Whichever it was, nothing is left behind. */
  until(ms: number, done?: Promise<unknown>): Promise<void> {
    if (this._closed) return Promise.resolve();
    return new Promise((resolve) => {
      const over = () => {
        cancel();
        this._waiting = this._waiting.filter((other) => other !== over);
        resolve();
      };
      const cancel = this._clock.timer(Math.max(0, ms), over);
      this._waiting.push(over);
      done?.then(over, over);
    });
  }

  close(): void {
    this._closed = true;
    for (const over of this._waiting) over();
  }
}

/** Waits as long as a busy answer asks for, and a random while more; throws what waiting would not mend before `end`. */
export const waitBusy = (
  host: Host,
  pauses: Pauses,
  what: "login" | "report",
  { status, retryAfterMs = 0 }: Outcome & { kind: "busy" },
  backoff: Backoff,
  end: number,
): Promise<void> => {
  // Others mean that this request is too much, or that something is broken: asking again is the user's choice.
  if (status !== 429 && status !== 503) throw refusal(what, status);
  const left = end - host.clock.now();
  const ms = retryAfterMs + backoff.next();
  if (ms < left) return pauses.until(ms);
  const text = status === 429 ? "too many requests" : "not available";
  throw new ReportError("BUSY", `${what}: ${text} (${status}) until the time limit`, status);
};
