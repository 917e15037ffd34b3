// What is known of the shared attributes, and what a new look at the platform changes in it.
import type { Host } from "../../port.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import type { Json, JsonObject } from "../../wire/text/json.js";

const SNAPSHOT = "shared";
/** Bytes. */
const SNAPSHOT_LIMIT = 3500;
/** The values are read so often where there is no attribute poll. */
export const READ_EVERY_MS = 30_000;
/** Two trusted answers without a key, this far apart, mean that it was deleted. */
export const SECOND_LOOK_MS = 2000;

interface KnownValue {
  /** Canonical JSON text: what is compared, kept and handed out. */
  text: string;
  /** When a trusted answer lacked the key for the first time since it last had it. */
  missingSince: number | undefined;
}

/**
 * The last known value of each wanted key. It outlives a restart as a snapshot in the store, so that a device without a network
 * starts with what it last knew.
 */
export class SharedValues {
  private readonly _host: Host;
  private readonly _values = new Map<string, KnownValue>();
  private _snapshotLogged = false;
  private _stored = true;

  constructor(host: Host) {
    this._host = host;
    const kept = readStored(host, SNAPSHOT);
    if (typeof kept !== "object" || kept === null || Array.isArray(kept)) return;
    for (const key of Object.keys(kept))
      this._values.set(key, { text: JSON.stringify(kept[key]), missingSince: undefined });
  }

  has(key: string): boolean {
    return this._values.has(key);
  }

  /** A fresh copy: what a subscriber does to it changes nothing here. */
  value(key: string): Json | undefined {
    const known = this._values.get(key);
    return known ? (JSON.parse(known.text) as Json) : undefined;
  }

  /** Takes values for `keys` from what the platform sent; returns the keys that changed. */
  update(keys: readonly string[], values: JsonObject): string[] {
    const changed: string[] = [];
    keys.forEach((key) => {
      if (!Object.hasOwn(values, key)) return;
      const text = JSON.stringify(values[key]);
      if (this._values.get(key)?.text !== text) changed.push(key);
      this._values.set(key, { text, missingSince: undefined });
    });
    return changed;
  }

  /** Forgets `keys`; returns those that were known. */
  remove(keys: readonly string[]): string[] {
    return keys.filter((key) => this._values.delete(key));
  }

  /**
   * A trusted answer for `keys` lacked some: returns those that are missing for the second time, `SECOND_LOOK_MS` apart or more.
   * They are forgotten. `pending` says whether others need that second look.
   */
  missing(keys: readonly string[], values: JsonObject): { gone: string[]; pending: boolean } {
    const now = this._host.clock.now();
    const gone: string[] = [];
    let pending = false;
    keys.forEach((key) => {
      const known = this._values.get(key);
      if (!known || Object.hasOwn(values, key)) return;
      known.missingSince ??= now;
      if (now - known.missingSince >= SECOND_LOOK_MS) gone.push(key);
      else pending = true;
    });
    this.remove(gone);
    return { gone, pending };
  }

  /** Writes the snapshot; to be called once after each change. */
  keep(): void {
    const values: JsonObject = Object.create(null);
    this._values.forEach(({ text }, key) => {
      values[key] = JSON.parse(text) as Json;
    });
    if (this._host.encode(JSON.stringify(values)).length <= SNAPSHOT_LIMIT) {
      this._stored = writeStored(this._host, SNAPSHOT, values, !this._stored);
      return;
    }
    this._host.store.delete(SNAPSHOT);
    if (!this._snapshotLogged)
      this._host.log("warn", "shared attributes are too large to be kept over a restart");
    this._snapshotLogged = true;
  }

  forget(): boolean {
    this._values.clear();
    return forgetStored(this._host, SNAPSHOT);
  }
}
