// Limits the rate of requests, regardless of the peer's answers.
import type { Clock } from "../port.js";
import type { Outcome } from "./outcome.js";

interface Budget {
  /** Number of requests that may be sent at once. */
  readonly burst: number;
  /** Number of requests per minute after that. */
  readonly perMinute: number;
  /**
   * Requests that do not count, so that normal work is never slowed. `taken`: accepted requests,
   * whose number the device decides. `bytes`: requests that brought at least 1 KiB.
   */
  readonly free?: "taken" | "bytes";
}

/**
 * Limits per purpose: at most `burst + perMinute` requests in one minute, not counting free ones.
 */
export const BUDGETS = {
  telemetry: { burst: 60, perMinute: 60, free: "taken" },
  /**
   * Reads, publications and probes. A read follows each change, and changes come at most twice a
   * second.
   */
  attributes: { burst: 60, perMinute: 240 },
  attributePoll: { burst: 60, perMinute: 120 },
  /** An operator's script: 1,000 RPCs at full speed, then 50 a second. */
  rpcPoll: { burst: 1000, perMinute: 3000 },
  rpcAnswer: { burst: 1000, perMinute: 3000 },
  /** `attributes.read`, `rpc.call` and `claim`. */
  application: { burst: 60, perMinute: 60, free: "taken" },
  provisioning: { burst: 10, perMinute: 30 },
  firmware: { burst: 60, perMinute: 60, free: "bytes" },
} as const satisfies Record<string, Budget>;

/** The purpose of a request. */
export type Purpose = keyof typeof BUDGETS;

const MINUTE_MS = 60_000;
const FREE_BYTES = 1024;

/** One token bucket per purpose. */
export class Governor {
  private readonly _clock: Clock;
  /** Time when each bucket is full again; this encodes its level. */
  private readonly _fullAt: { [P in Purpose]?: number } = {};

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** Takes a token. Returns the ms that the request must wait; 0: send now. */
  take(purpose: Purpose): number {
    const { burst } = BUDGETS[purpose];
    const now = this._clock.now();
    const fullAt = Math.max(this._fullAt[purpose] ?? now, now) + tokenMs(purpose);
    this._fullAt[purpose] = fullAt;
    return Math.max(0, Math.ceil(fullAt - burst * tokenMs(purpose) - now));
  }

  /** A request ended and brought `bytes`. Returns its token if the request is free. */
  ended(purpose: Purpose, outcome: Outcome, bytes: number): void {
    const { free }: Budget = BUDGETS[purpose];
    if (free === "taken" && outcome.kind === "done") this.giveBack(purpose);
    if (free === "bytes") this.giveBack(purpose, Math.min(1, bytes / FREE_BYTES));
  }

  /** Returns `tokens`. */
  giveBack(purpose: Purpose, tokens = 1): void {
    this._fullAt[purpose] = (this._fullAt[purpose] ?? 0) - tokens * tokenMs(purpose);
  }
}

/** ms per token. */
const tokenMs = (purpose: Purpose): number => MINUTE_MS / BUDGETS[purpose].perMinute;
