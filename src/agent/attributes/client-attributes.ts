// Client attributes: one bounded object, merged by key and stored until the platform accepts it.

import type { PlatformSession } from "../../platform/index.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import { encodeValues } from "../../wire/values.js";
import { MARKER_KEY } from "./reader.js";

const STORED = "pending";
/**
 * Limit of all published client attributes together, in bytes as stored. A stored value holds at
 * most 4,000 bytes.
 */
const LIMIT = 3900;

interface Item {
  readonly key: string;
  /** `"key":value` as JSON text. */
  readonly member: string;
  dirty: boolean;
}

const isDirty = (item: Item) => item.dirty;
const stored = (item: Item) => [item.key, item.member, item.dirty ? 1 : 0];

/** All client attributes that the application published. Unaccepted ones are `dirty`. */
export class ClientAttributes {
  private readonly _session: PlatformSession;
  private _items: Item[] = [];
  private _stored = true;

  constructor(session: PlatformSession) {
    this._session = session;
    const kept = readStored(session.host, STORED);
    if (!Array.isArray(kept)) return;
    for (const entry of kept) {
      if (!Array.isArray(entry)) continue;
      const [key, member, dirty] = entry;
      if (typeof key === "string" && typeof member === "string")
        this._items.push({ key, member, dirty: dirty === 1 });
    }
  }

  get dirty(): boolean {
    return this._items.some(isDirty);
  }

  /**
   * Merges `values`. Throws `BAD_VALUE` or `TOO_LARGE` and then keeps none. Unchanged values are
   * not sent again.
   */
  publish(values: Readonly<Record<string, unknown>>): void {
    if (typeof values !== "object" || values === null || Array.isArray(values))
      throw this._session.counters.emitError("BAD_VALUE", "values must be an object of keys and values");
    const items = this._items.slice();
    let changed = false;
    for (const key of Object.keys(values)) {
      if (key === MARKER_KEY)
        throw this._session.counters.emitError("BAD_VALUE", `"${MARKER_KEY}" is reserved for the agent`);
      const encoded = encodeValues({ [key]: values[key] });
      if (!encoded.ok) throw this._session.counters.emitError("BAD_VALUE", encoded.reason);
      const member = encoded.text.slice(1, -1);
      const at = items.findIndex((item) => item.key === key);
      if (at >= 0 && items[at]?.member === member) continue;
      changed = true;
      if (at < 0) items.push({ key, member, dirty: true });
      else items[at] = { key, member, dirty: true };
    }
    if (!changed && this._stored) return;
    if (this._session.host.encode(JSON.stringify(items.map(stored))).length > LIMIT) {
      throw this._session.counters.emitError("TOO_LARGE", `client attributes exceed ${LIMIT} bytes in total`);
    }
    this._items = items;
    this._save();
  }

  /** The next batch to send: all dirty attributes, or only the first of them. */
  batch(alone: boolean): AttributeBatch | undefined {
    const { redactor } = this._session;
    const dirty = this._items.filter(isDirty);
    const items = alone ? dirty.slice(0, 1) : dirty;
    return items.length === 0
      ? undefined
      : { items, text: redactor.cleanJson(`{${items.map((item) => item.member).join(",")}}`) };
  }

  /** The platform accepted the batch. Attributes published again meanwhile stay dirty. */
  accepted(batch: AttributeBatch): void {
    batch.items.forEach((item) => {
      item.dirty = false;
    });
    this._save();
  }

  /** Drops attributes that the platform never accepts. */
  drop(batch: AttributeBatch): void {
    this._items = this._items.filter((item) => !batch.items.includes(item));
    this._save();
  }

  /** Marks all attributes dirty, because a newly provisioned device has none on the platform. */
  markAllDirty(): void {
    if (this._items.every(isDirty)) return;
    for (const item of this._items) item.dirty = true;
    this._save();
  }

  forget(): boolean {
    this._items = [];
    return forgetStored(this._session.host, STORED);
  }

  private _save(): void {
    this._stored = writeStored(this._session.host, STORED, this._items.map(stored), !this._stored);
  }
}

export interface AttributeBatch {
  readonly items: readonly Item[];
  readonly text: string;
}
