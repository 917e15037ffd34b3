// Deadlines and delays.

import type { Outcome } from "../http/outcome.js";
import type { Backoff } from "../platform/backoff.js";
import type { Clock, Host } from "../port.js";
import { ReportError, refusal } from "./errors.js";

/** A host's timer is limited to 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/**
 * Maximum delay between two attempts while the platform is busy without Retry-After. Short, because
 * a user waits.
 */
export const LONGEST_WAIT_MS = 30_000;

/**
 * The deadline of a call by the host's monotonic clock. Throws `BAD_VALUE` unless `timeoutMs` is
 * above 0 and at most 20 days.
 */
export const endOf = (clock: Clock, timeoutMs: number): number => {
  if (timeoutMs > 0 && timeoutMs <= LONGEST_MS) return clock.now() + timeoutMs;
  throw new ReportError(
    "BAD_VALUE",
    "invalid timeoutMs: expected a number of ms, more than 0 and up to 20 days",
  );
};

/** The delays of one client. They end when due, or all at once when the client is closed. */
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

  /** Resolves when `done` does, after `ms`, or when this is closed. */
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

/**
 * Waits as long as a busy answer requests, plus a random delay. Throws if waiting until `end`
 * cannot help.
 */
export const waitBusy = (
  host: Host,
  pauses: Pauses,
  what: "login" | "report",
  { status, retryAfterMs = 0 }: Outcome & { kind: "busy" },
  backoff: Backoff,
  end: number,
): Promise<void> => {
  // Other statuses mean that the request is too large or something is broken: the user decides
  // about a retry.
  if (status !== 429 && status !== 503) throw refusal(what, status);
  const left = end - host.clock.now();
  const ms = retryAfterMs + backoff.next();
  if (ms < left) return pauses.until(ms);
  const text = status === 429 ? "too many requests" : "not available";
  throw new ReportError("BUSY", `${what}: ${text} (${status}) until the time limit`, status);
};
