// When a device that the platform refuses asks again. One for all loops: while it waits there is no token in use, and so no request. It outlives restarts and wakes:
// else a device that starts each minute would never ask more slowly.
import { share } from "../../platform/backoff.js";
import type { Host } from "../../port.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import { crc32 } from "../../wire/crypto/crc32.js";
import type { Secret } from "../../wire/secret.js";
import { isObject } from "../../wire/text/json.js";

/** Seconds to the next attempt, at the most: of each wait any part may come. An answer that load itself causes begins more slowly. */
const WAITS = {
  unknown: [1, 2, 5, 10, 30, 60, 120, 300, 600],
  failed: [5, 15, 30, 60, 120, 300, 600],
} as const;
/** `unknown`: a token (401), or a provisioning key (NOT_FOUND), that the platform does not know; `failed`: a FAILURE to create the device. */
export type Refusal = keyof typeof WAITS;

/** The platform answers FAILURE for a taken name and under load alike. */
export const FAILURE =
  "the platform did not create the device: its name is taken (or it was provisioned before and the answer was lost), or the platform is overloaded";
export const SLOWER = "asked again ever more slowly, every 10 minutes at last";

const STORED = "refused";
const SHORTEST_MS = 100;
/** What was good for so long starts again when it is refused; what is refused again sooner goes on where it was. */
const GOOD_MS = 10 * 60_000;

export class RefusalGate {
  /** How often in a row it was refused. */
  count = 0;
  private readonly _host: Host;
  private readonly _base: string;
  private _dueAt = 0;
  private _readyAt = Number.NEGATIVE_INFINITY;
  private _reported = false;
  private _failed = false;
  /** Whose refusal it is: another token, or another provisioning, is asked about at once. */
  private _of = 0;

  constructor(host: Host, base: string) {
    this._host = host;
    this._base = base;
  }

  /** ms until it may ask; 0: now. */
  get wait(): number {
    return Math.max(0, Math.ceil(this._dueAt - this._host.clock.now()));
  }

  /**
   * A start: goes on where the one before left off, if that was refused as `who` with the same secrets. True if it has
   * to wait.
   */
  begin(who: string, secrets: readonly Secret[] = []): boolean {
    let text = "";
    for (const secret of secrets) text += `${secret.reveal()} `;
    const bytes = this._host.encode(text + who);
    this._of = crc32(bytes, 0, bytes.length);
    const found = readStored(this._host, STORED);
    if (this.count > 0 || !isObject(found) || found.url !== this._base || found.of !== this._of)
      return this.wait > 0;
    const { count, at, ms } = found;
    if (!Number.isSafeInteger(count) || typeof ms !== "number" || !(ms >= 0 && ms <= 600_000)) return false;
    this.count = Math.max(0, count as number);
    const { clock } = this._host;
    const wall = clock.wall();
    // Who does not know how long it was off waits any part of it.
    const passed = wall === undefined || typeof at !== "number" ? ms * share(this._host) : wall - at;
    this._dueAt = clock.now() + Math.min(ms, Math.max(0, ms - passed));
    return this.wait > 0;
  }

  /** It is refused. Returns the ms to wait. */
  refused(what: Refusal): number {
    const { clock } = this._host;
    const now = clock.now();
    if (now - this._readyAt >= GOOD_MS) {
      if (this._readyAt > 0) this.count = 0;
      this._reported = false;
    }
    this._readyAt = Number.POSITIVE_INFINITY;
    const waits = WAITS[what];
    const most = waits[Math.min(this.count++, waits.length - 1)] as number;
    const ms = Math.max(SHORTEST_MS, Math.round(most * 1000 * share(this._host)));
    this._dueAt = now + ms;
    const value = { url: this._base, of: this._of, count: this.count, at: clock.wall(), ms };
    this._failed = !writeStored(this._host, STORED, value, this._failed);
    return ms;
  }

  /** True once for each row of refusals. */
  get isNews(): boolean {
    const news = !this._reported;
    this._reported = true;
    return news;
  }

  /** The token is in use; `proven`: as the platform took it. */
  ready(proven: boolean): void {
    this._readyAt = this._host.clock.now();
    this._dueAt = 0;
    if (proven && this._host.store.get(STORED)) this._host.store.delete(STORED);
  }

  /** False if the store keeps it. */
  forget(): boolean {
    this.count = 0;
    this._dueAt = 0;
    return forgetStored(this._host, STORED);
  }
}
