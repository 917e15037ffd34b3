// How fast requests may leave, whatever the peer answers and however fast.
import type { Clock } from "../port.js";
import type { Outcome } from "./outcome.js";

interface Budget {
  /** Requests that may leave at once. */
  readonly burst: number;
  /** Requests that may leave in each minute after that. */
  readonly perMinute: number;
  /**
   * Which requests don't count, so that work at full speed is never slowed: `taken`: those that the platform accepted, where the device decides how many
   * there are; `bytes`: those that brought 1 KiB or more.
   */
  readonly free?: "taken" | "bytes";
}

/** A minute sees `burst + perMinute` requests of one purpose at most, free ones aside. */
export const BUDGETS = {
  telemetry: { burst: 60, perMinute: 60, free: "taken" },
  /** Reads, publications and probes: a read follows each change, and changes come twice a second at most. */
  attributes: { burst: 60, perMinute: 240 },
  attributePoll: { burst: 60, perMinute: 120 },
  /** An operator's script: 1,000 RPCs at full speed, then 50 a second. */
  rpcPoll: { burst: 1000, perMinute: 3000 },
  rpcAnswer: { burst: 1000, perMinute: 3000 },
  /** `attributes.read`, `rpc.call` and `claim`. */
  application: { burst: 60, perMinute: 60, free: "taken" },
  provisioning: { burst: 10, perMinute: 30 },
  firmware: { burst: 60, perMinute: 60, free: "bytes" },
  report: { burst: 60, perMinute: 60, free: "taken" },
} as const satisfies Record<string, Budget>;

/** What a request is for. */
export type Purpose = keyof typeof BUDGETS;

const MINUTE_MS = 60_000;
const FREE_BYTES = 1024;

/** A token bucket for each purpose. */
export class Governor {
  private readonly _clock: Clock;
  /** When each bucket will be full again: one number holds its level. */
  private readonly _fullAt: { [P in Purpose]?: number } = {};

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** Takes a token. Returns for how many ms the request must wait; 0: it may leave now. */
  take(purpose: Purpose): number {
    const { burst } = BUDGETS[purpose];
    const now = this._clock.now();
    const fullAt = Math.max(this._fullAt[purpose] ?? now, now) + tokenMs(purpose);
    this._fullAt[purpose] = fullAt;
    return Math.max(0, Math.ceil(fullAt - burst * tokenMs(purpose) - now));
  }

  /** A request ended, whose answer brought `bytes`. Gives back what its budget does not count. */
  ended(purpose: Purpose, outcome: Outcome, bytes: number): void {
    const { free }: Budget = BUDGETS[purpose];
    if (free === "taken" && outcome.kind === "done") this.giveBack(purpose);
    if (free === "bytes") this.giveBack(purpose, Math.min(1, bytes / FREE_BYTES));
  }

  /** Gives `tokens` back. */
  giveBack(purpose: Purpose, tokens = 1): void {
    this._fullAt[purpose] = (this._fullAt[purpose] ?? 0) - tokens * tokenMs(purpose);
  }
}

/** ms in which a bucket gains a token. */
const tokenMs = (purpose: Purpose): number => MINUTE_MS / BUDGETS[purpose].perMinute;
