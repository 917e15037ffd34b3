// Schedules the attempts of a device that the platform refuses. All loops share it: while it waits,
// no token is in use and no request is sent. Its state survives restarts and wakes; otherwise a
// device that starts every minute would never slow down.
import { random01, WAITS_S, waitMs } from "../../platform/pace.js";
import type { Host } from "../../port.js";
import { deleteStored, forgetStored, readStored, writeStored } from "../../store.js";
import { crcOf } from "../../wire/crypto/crc32.js";
import type { Secret } from "../../wire/secret.js";
import { isObject } from "../../wire/text/json.js";

/**
 * `unknown`: the platform does not know the token (401) or provisioning key (NOT_FOUND).
 * `notCreated`: it could not create the device (FAILURE).
 */
export type Refusal = "unknown" | "notCreated";

/** The platform answers FAILURE both for a taken name and under load. */
export const FAILURE =
  "the platform did not create the device: its name is taken (or it was provisioned before and the answer was lost), or the platform is overloaded";

const STORED = "refused";
/**
 * A token accepted for this long starts with short delays again when refused; otherwise the delays
 * continue.
 */
const GOOD_MS = 10 * 60_000;

export class RefusalBackoff {
  /** Number of consecutive refusals. */
  count = 0;
  private readonly _host: Host;
  private readonly _base: string;
  private _dueAt = 0;
  private _readyAt = Number.NEGATIVE_INFINITY;
  /** Hash of the platform, and of the refused token or credentials. Others may be tried at once. */
  private _subject = 0;

  constructor(host: Host, base: string) {
    this._host = host;
    this._base = base;
  }

  /** ms until the next attempt; 0: now. */
  get wait(): number {
    return Math.max(0, Math.ceil(this._dueAt - this._host.clock.now()));
  }

  /**
   * Continues from the last start if it was refused as `who` with the same secrets. True if it has
   * to wait.
   */
  identify(who: string, secrets: readonly Secret[] = []): boolean {
    let text = `${this._base} `;
    for (const secret of secrets) text += `${secret.reveal()} `;
    this._subject = crcOf(this._host, this._host.encode(text + who));
    const found = readStored(this._host, STORED);
    if (this.count > 0 || !isObject(found) || found.of !== this._subject) return this.wait > 0;
    const { count, at, ms } = found;
    if (!Number.isSafeInteger(count) || typeof ms !== "number" || !(ms >= 0 && ms <= 600_000)) return false;
    this.count = Math.max(0, count as number);
    const { clock } = this._host;
    const wall = clock.wall();
    // Without a clock, nobody knows how much of the wait passed while the device was off.
    const passed = wall === undefined || typeof at !== "number" ? ms * random01(this._host) : wall - at;
    this._dueAt = clock.now() + Math.min(ms, Math.max(0, ms - passed));
    return this.wait > 0;
  }

  /** Notes a refusal. Returns the delay in ms. */
  noteRefusal(what: Refusal): number {
    const { clock } = this._host;
    const now = clock.now();
    if (this._readyAt > 0 && now - this._readyAt >= GOOD_MS) this.count = 0;
    this._readyAt = Number.POSITIVE_INFINITY;
    const ms = waitMs(this._host, WAITS_S[what], this.count++);
    this._dueAt = now + ms;
    writeStored(this._host, STORED, { of: this._subject, count: this.count, at: clock.wall(), ms });
    return ms;
  }

  /** The token is in use. `isAccepted`: false for a stored one that this run has not tried yet. */
  tokenInUse(isAccepted: boolean): void {
    this._readyAt = this._host.clock.now();
    this._dueAt = 0;
    if (isAccepted && this._host.store.get(STORED)) deleteStored(this._host, STORED);
  }

  /** False if the store keeps the state. */
  forget(): boolean {
    this.count = 0;
    this._dueAt = 0;
    return forgetStored(this._host, STORED);
  }
}
