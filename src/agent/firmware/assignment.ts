// What the shared attributes assign, as they were read last.
//
// The platform deletes and writes the keys one by one, so a read may see a mixture. A read that
// names the image of the journal, or nothing where the journal has nothing, counts at once;
// anything else must stay for a while (decide.ts).
import type { Host } from "../../port.js";
import { crcOf } from "../../wire/crypto/crc32.js";
import { toHex } from "../../wire/crypto/hex.js";
import { type Assigned, imageKey, parseAssignment } from "../../wire/firmware.js";
import type { Json, JsonObject } from "../../wire/text/json.js";

const UNREAD = "unread";
const KEY_DIGITS = 32;

export class Assignment {
  private readonly _host: Host;
  private readonly _keys: readonly string[];
  /** The last read; undefined before the first, and after a change was reported. */
  latest: Assigned | undefined;
  /** Identifies the image or the invalid set of keys that was read last; "": nothing assigned. */
  key = UNREAD;
  /** Time between the first and the last read with this `key`. */
  settledMs = 0;
  private _since = 0;
  /** Assigned again, even the same one; the job clears it once it has reported. */
  isRepeated = false;
  /** `marker` before a sleep, which is longer than any assignment is half written; -1: unknown. */
  markerBefore = -1;

  constructor(host: Host, keys: readonly string[]) {
    this._host = host;
    this._keys = keys;
  }

  /** Tells over a sleep whether the next read has the same `key`; -1: unknown. */
  get marker(): number {
    return this.key === UNREAD ? this.markerBefore : crcOf(this._host, this._host.encode(this.key));
  }

  /** A complete read of all keys. */
  learn(all: JsonObject): void {
    const there = this._keys.filter((key) => Object.hasOwn(all, key));
    const shared: JsonObject = Object.fromEntries(there.map((key) => [key, all[key] as Json]));
    const assigned = parseAssignment(shared);
    const key = this._keyOf(assigned, shared);
    this.latest = assigned;
    const now = this._host.clock.now();
    if (key !== this.key) {
      this.isRepeated ||= this.key !== UNREAD;
      this.key = key;
      this._since = this.marker === this.markerBefore ? Number.NEGATIVE_INFINITY : now;
      this.markerBefore = -1;
    }
    this.settledMs = now - this._since;
  }

  /** A change was reported; it may be over before the next read. */
  changed(): void {
    this.isRepeated ||= this.latest !== undefined;
    this.latest = undefined;
  }

  private _keyOf(assigned: Assigned, shared: JsonObject): string {
    if (assigned.kind === "absent") return "";
    const text = assigned.kind === "assigned" ? imageKey(assigned.assignment) : JSON.stringify(shared);
    const digest = this._host.digest("SHA256");
    if (!digest) return text;
    digest.write(this._host.encode(text));
    return toHex(digest.close()).slice(0, KEY_DIGITS);
  }
}
