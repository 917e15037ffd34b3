// Client attributes on their way to the platform: one bounded object, merged by key, kept in the store until it is accepted.

import type { PlatformSession } from "../../platform/index.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import { encodeValues } from "../../wire/values.js";
import { MARKER_KEY } from "./freshness-marker.js";

const STORED = "pending";
/** Bytes of all published client attributes together, as they are stored; a value of the store holds no more than 4,000. */
const LIMIT = 3900;

interface Item {
  readonly key: string;
  /** `"key":value` as JSON text. */
  readonly member: string;
  dirty: boolean;
}

const stored = (item: Item) => [item.key, item.member, item.dirty ? 1 : 0];

/** All that the application published. What the platform has not accepted yet is `dirty`. */
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
    return this._items.some((item) => item.dirty);
  }

  /** Merges `values`; throws `BAD_VALUE` or `TOO_LARGE`, and then keeps nothing of them. Unchanged values are not sent again. */
  publish(values: Readonly<Record<string, unknown>>): void {
    if (typeof values !== "object" || values === null || Array.isArray(values))
      throw this._session.counters.error("BAD_VALUE", "values must be an object of keys and values");
    const items = this._items.slice();
    let changed = false;
    for (const key of Object.keys(values)) {
      if (key === MARKER_KEY)
        throw this._session.counters.error("BAD_VALUE", `"${MARKER_KEY}" is the agent's own`);
      const encoded = encodeValues({ [key]: values[key] });
      if (!encoded.ok) throw this._session.counters.error("BAD_VALUE", encoded.reason);
      const member = encoded.text.slice(1, -1);
      const at = items.findIndex((item) => item.key === key);
      if (at >= 0 && items[at]?.member === member) continue;
      changed = true;
      if (at < 0) items.push({ key, member, dirty: true });
      else items[at] = { key, member, dirty: true };
    }
    if (!changed && this._stored) return;
    if (this._session.host.encode(JSON.stringify(items.map(stored))).length > LIMIT) {
      throw this._session.counters.error("TOO_LARGE", `client attributes may take ${LIMIT} bytes in all`);
    }
    this._items = items;
    this._keep();
  }

  /** What to send now: all that is dirty, or the first of it alone. */
  batch(alone: boolean): Batch | undefined {
    const { redactor } = this._session;
    const dirty = this._items.filter((item) => item.dirty);
    const items = alone ? dirty.slice(0, 1) : dirty;
    return items.length === 0
      ? undefined
      : { items, text: redactor.cleanJson(`{${items.map((item) => item.member).join(",")}}`) };
  }

  /** The platform accepted the batch; what was published again meanwhile stays dirty. */
  accepted(batch: Batch): void {
    batch.items.forEach((item) => {
      item.dirty = false;
    });
    this._keep();
  }

  /** The platform will never take these. */
  drop(batch: Batch): void {
    this._items = this._items.filter((item) => !batch.items.includes(item));
    this._keep();
  }

  /** A device that was provisioned again has none of them. */
  again(): void {
    if (this._items.every((item) => item.dirty)) return;
    for (const item of this._items) item.dirty = true;
    this._keep();
  }

  forget(): boolean {
    this._items = [];
    return forgetStored(this._session.host, STORED);
  }

  private _keep(): void {
    this._stored = writeStored(this._session.host, STORED, this._items.map(stored), !this._stored);
  }
}

export interface Batch {
  readonly items: readonly Item[];
  readonly text: string;
}
