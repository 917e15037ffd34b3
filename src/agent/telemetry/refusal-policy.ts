// Decides whether a point that was refused alone is bad, or the platform or a proxy rejects
// everything. A probe, a small point sent right after the refusal, tells them apart.
import { type LostBodies, statusText } from "../../platform/index.js";
import { WAITS_S, waitMs } from "../../platform/pace.js";
import type { Host } from "../../port.js";
import type { BatchLimit } from "./batch-limit.js";

/** An accepted probe is valid only for a refusal within this time before it. */
const FRESH_MS = 10_000;
/** While probes are refused too, send at most one in this time. */
const PROBE_MS = 60_000;
/** Report an outage at most once in this time. */
const QUIET_MS = 3_600_000;
/**
 * A single point that the platform was too busy for during this time may be larger than a rate
 * limit: then it never passes, and a probe decides.
 */
const TOO_LARGE_MS = 600_000;

/** State saved for the next wake of a sleeping device. */
export interface RefusalMemory {
  /** Limit of the points in one request; 0: none was found. */
  limit: number;
  /** Times that the first point was lost alone. */
  losses: number;
  /** ms since the last probe of an outage; 0: no outage. */
  probed: number;
}

export class RefusalPolicy {
  /** Everything is refused, so no point is dropped. */
  outage = false;
  /** The status of the last refusal. */
  status = 0;
  private readonly _host: Host;
  private readonly _limit: BatchLimit;
  private readonly _lostBodies: Pick<LostBodies, "losses">;
  private _refusedAt = 0;
  private _probedAt = Number.NEGATIVE_INFINITY;
  private _logged = false;
  /** Consecutive refusals that no single point caused. */
  private _refusals = 0;
  private _quietUntil = 0;
  /** The single point that the platform is too busy for, and the time when that began. */
  private _busyPoint: number | undefined;
  private _busySince = 0;
  /** The last single point was not refused: the platform was too busy for it. */
  private _isBusy = false;
  private _acceptedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, limit: BatchLimit, lostBodies: Pick<LostBodies, "losses">) {
    this._host = host;
    this._limit = limit;
    this._lostBodies = lostBodies;
  }

  /** A batch was refused with `status`. */
  noteRefusal(status: number): void {
    this.status = status;
    this._isBusy = false;
  }

  /**
   * A single point was refused. True if a probe may be sent, which then counts
   * as sent.
   */
  takeProbe(): boolean {
    const now = this._host.clock.now();
    this._refusedAt = now;
    if (this.outage && now - this._probedAt < PROBE_MS) return false;
    this._probedAt = now;
    return true;
  }

  /** The probe was refused too, so no point is dropped. */
  probeRefused(): void {
    this.outage = true;
  }

  /**
   * The probe was accepted. True if the refused content is at fault, false if the refusal is too
   * old to tell or the platform was busy: then the point is sent once more.
   */
  probeAccepted(): boolean {
    this.passed();
    this._acceptedAt = this._host.clock.now();
    return !this._isBusy && this._acceptedAt - this._refusedAt <= FRESH_MS;
  }

  /**
   * The platform was too busy for the single point `number`. If that lasts, a probe is sent. The
   * point is dropped if the platform accepts the probe and is too busy for the point right after.
   */
  busyAlone(number: number): "keep" | "probe" | "drop" {
    const now = this._host.clock.now();
    if (this._busyPoint !== number) this._busySince = now;
    this._busyPoint = number;
    this._isBusy = true;
    if (now - this._busySince < TOO_LARGE_MS) return "keep";
    if (now - this._acceptedAt <= FRESH_MS) return "drop";
    return this.takeProbe() ? "probe" : "keep";
  }

  /** The platform accepts telemetry. */
  passed(): void {
    this.outage = false;
    this._logged = false;
    this._refusals = 0;
  }

  /** ms until the next attempt after a refusal that no single point caused. */
  nextDelayMs(): number {
    const now = this._host.clock.now();
    if (!this._logged && now >= this._quietUntil) {
      this._quietUntil = now + QUIET_MS;
      this._host.log(
        "error",
        `the platform refuses telemetry with ${statusText(this.status)}: check the base URL; points are kept`,
      );
    }
    this._logged = true;
    return waitMs(this._host, WAITS_S.refused, this._refusals++);
  }

  /** Restores the state after a sleep of `sleptMs`. */
  wake(memory: RefusalMemory, sleptMs: number): void {
    this._limit.restore(memory.limit);
    this._lostBodies.losses = memory.losses;
    if (memory.probed === 0) return;
    this.outage = true;
    this._logged = true;
    this._probedAt = this._host.clock.now() - memory.probed - sleptMs;
  }

  /** Saves the state before a sleep. */
  sleep(memory: RefusalMemory): void {
    memory.limit = this._limit.found;
    memory.losses = memory.limit === 1 ? this._lostBodies.losses : 0;
    memory.probed = this.outage ? Math.max(1, Math.ceil(this._host.clock.now() - this._probedAt)) : 0;
  }
}
