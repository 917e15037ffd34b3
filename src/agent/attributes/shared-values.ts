// The known shared attributes, and the changes that a new read makes to them.
import type { Host } from "../../port.js";
import { deleteStored, forgetStored, readStored, writeStored } from "../../store.js";
import type { Json, JsonObject } from "../../wire/text/json.js";

const SNAPSHOT = "shared";
/** Size limit of the stored snapshot, in bytes. */
const SNAPSHOT_LIMIT = 3500;
/** Interval of reads without an attribute poll. */
export const READ_EVERY_MS = 30_000;
/**
 * Interval of reads beside attribute polls. A poll that the platform forgot, because the device
 * moved to another of its nodes, ends like any other.
 */
export const READ_ANYWAY_MS = 300_000;
/** A key is deleted if two trusted answers lack it that are at least this far apart. */
export const SECOND_READ_MS = 2000;

interface KnownValue {
  /** Canonical JSON text, used for comparing, storing and handing out. */
  text: string;
  /** Time of the first trusted answer without the key since the key was last present. */
  missingSince: number | undefined;
}

/**
 * The last known value of each wanted key. A snapshot in the store survives restarts, so that a
 * device without a network starts with its last known values.
 */
export class SharedValues {
  private readonly _host: Host;
  private readonly _values = new Map<string, KnownValue>();
  /** Wanted keys that do not exist on the platform, which the subscribers were told. */
  private _absent: string[] = [];
  private _snapshotLogged = false;

  constructor(host: Host) {
    this._host = host;
    const kept = readStored(host, SNAPSHOT);
    if (typeof kept !== "object" || kept === null || Array.isArray(kept)) return;
    for (const key of Object.keys(kept))
      this._values.set(key, { text: JSON.stringify(kept[key]), missingSince: undefined });
  }

  /** True if the value, or that there is none, is known. */
  isKnown(key: string): boolean {
    return this._values.has(key) || this._absent.includes(key);
  }

  /** A fresh copy, so that a subscriber cannot change the stored value. */
  value(key: string): Json | undefined {
    const known = this._values.get(key);
    return known ? (JSON.parse(known.text) as Json) : undefined;
  }

  /** Updates `keys` with values from the platform. Returns the keys that changed. */
  learn(keys: readonly string[], values: JsonObject): string[] {
    const changed: string[] = [];
    keys.forEach((key) => {
      if (!Object.hasOwn(values, key)) return;
      const text = JSON.stringify(values[key]);
      if (this._values.get(key)?.text !== text) changed.push(key);
      this._values.set(key, { text, missingSince: undefined });
      this._absent = this._absent.filter((absent) => absent !== key);
    });
    return changed;
  }

  /** Removes `keys`. Returns those that were known. */
  remove(keys: readonly string[]): string[] {
    const removed = keys.filter((key) => this._values.delete(key));
    this._absent = this._absent.concat(removed);
    return removed;
  }

  /**
   * Handles keys missing in a trusted answer for `keys`. Returns and removes those missing for the
   * second time, at least `SECOND_READ_MS` apart. `pending`: others need that second read.
   * `absent`: keys that were never known, when they are missing for the first time.
   */
  missing(
    keys: readonly string[],
    values: JsonObject,
  ): { gone: string[]; absent: string[]; pending: boolean } {
    const now = this._host.clock.now();
    const gone: string[] = [];
    const absent: string[] = [];
    let pending = false;
    keys.forEach((key) => {
      const known = this._values.get(key);
      if (Object.hasOwn(values, key)) return;
      if (!known) {
        if (!this._absent.includes(key)) absent.push(key);
        return;
      }
      known.missingSince ??= now;
      if (now - known.missingSince >= SECOND_READ_MS) gone.push(key);
      else pending = true;
    });
    this.remove(gone);
    this._absent = this._absent.concat(absent);
    return { gone, absent, pending };
  }

  /** Writes the snapshot. Call once after each change. */
  save(): void {
    const values: JsonObject = Object.create(null);
    this._values.forEach(({ text }, key) => {
      values[key] = JSON.parse(text) as Json;
    });
    if (this._host.encode(JSON.stringify(values)).length <= SNAPSHOT_LIMIT) {
      writeStored(this._host, SNAPSHOT, values);
      return;
    }
    deleteStored(this._host, SNAPSHOT);
    if (!this._snapshotLogged)
      this._host.log(
        "warn",
        `shared attributes exceed ${SNAPSHOT_LIMIT} bytes: they do not survive a restart`,
      );
    this._snapshotLogged = true;
  }

  forget(): boolean {
    this._values.clear();
    this._absent = [];
    return forgetStored(this._host, SNAPSHOT);
  }
}
