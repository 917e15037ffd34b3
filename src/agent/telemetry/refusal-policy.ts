// Who is to blame when a point is refused alone: the point, or the platform and what is before it. A probe shows it: a small point of the agent's own, sent right after.
import { Backoff } from "../../platform/backoff.js";
import type { Host } from "../../port.js";
import type { BatchLimit } from "./batch-limit.js";

/** A probe that was accepted judges what was refused no longer before it. */
const FRESH_MS = 10_000;
/** While probes are refused as well, one goes out so often at most. */
const PROBE_MS = 60_000;
/** The longest wait between two attempts in an outage, about. */
const LONGEST_MS = 600_000;
/** An outage is reported so often at most. */
const QUIET_MS = 3_600_000;
/** That a value is left out is logged so often at most. */
const LEFT_OUT_MS = 600_000;

/** What it leaves for the next wake of a device that sleeps. */
export interface RefusalMemory {
  /** Points go one by one, as one is refused: 0 or 1. */
  alone: number;
  /** ms since the last probe of an outage, 0: there is none. */
  probed: number;
}

export class RefusalPolicy {
  /** The probe was refused, too: nothing is condemned. */
  outage = false;
  /** The status of the last refusal. */
  status = 0;
  private readonly _host: Host;
  private readonly _limit: BatchLimit;
  private readonly _backoff: Backoff;
  private _refusedAt = 0;
  private _probedAt = Number.NEGATIVE_INFINITY;
  private _logged = false;
  private _quietUntil = 0;
  private _leftOutAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, limit: BatchLimit) {
    this._host = host;
    this._limit = limit;
    this._backoff = new Backoff(host, LONGEST_MS);
  }

  /** A point, or one key of it, was refused alone. True if a probe may go out. */
  refused(): boolean {
    const now = this._host.clock.now();
    this._refusedAt = now;
    if (this.outage && now - this._probedAt < PROBE_MS) return false;
    this._probedAt = now;
    return true;
  }

  /** The probe was accepted. True if what was refused is to blame; else that was too long ago to know. */
  accepted(): boolean {
    this.passed();
    return this._host.clock.now() - this._refusedAt <= FRESH_MS;
  }

  /** A value is left out of its point as too large. A key that is so in each point must not fill the log. */
  leftOut(): void {
    const now = this._host.clock.now();
    if (now - this._leftOutAt < LEFT_OUT_MS) return;
    this._leftOutAt = now;
    this._host.log("warn", "a value is too large for the platform and is left out of its point");
  }

  /** The platform takes telemetry. */
  passed(): void {
    this.outage = false;
    this._logged = false;
    this._backoff.reset();
  }

  /** ms until the next attempt, after a refusal that nobody is blamed for. */
  wait(): number {
    const now = this._host.clock.now();
    if (!this._logged && now >= this._quietUntil) {
      this._quietUntil = now + QUIET_MS;
      this._host.log(
        "error",
        `telemetry is refused with ${this.status}: is the base URL right? Points are kept`,
      );
    }
    this._logged = true;
    return this._backoff.next();
  }

  /** A wake begins: what was found out about a point that is refused outlives the sleep. */
  awake(memory: RefusalMemory, sleptMs: number): void {
    if (memory.alone === 1) this._limit.alone();
    if (memory.probed === 0) return;
    this.outage = true;
    this._logged = true;
    this._probedAt = this._host.clock.now() - memory.probed - sleptMs;
  }

  /** A wake ends. */
  asleep(memory: RefusalMemory): void {
    memory.alone = this._limit.points === 1 ? 1 : 0;
    memory.probed = this.outage ? Math.max(1, Math.ceil(this._host.clock.now() - this._probedAt)) : 0;
  }
}
