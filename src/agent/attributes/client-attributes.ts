// Client attributes: one bounded object, merged by key and stored until the platform accepts it.

import type { PlatformSession } from "../../platform/index.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import type { LeftOut } from "../../wire/text/encode.js";
import { isObject } from "../../wire/text/json.js";
import { quoteShortened } from "../../wire/text/text.js";
import { encodeValues } from "../../wire/values.js";

/** The freshness marker, which applications cannot publish. */
export const MARKER_KEY = "moteVersion";
const STORED = "client";
const WHAT = "the client attributes";
/**
 * Limit of all published client attributes together, in bytes as stored. A stored value holds at
 * most 4,000 bytes.
 */
const LIMIT = 3900;
/** No more keys fit. Looking at all of them would block the device. */
const MOST_KEYS = LIMIT / 6;

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
  private _isStored = true;

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
   * Merges `values`, without those that cannot be stored, which are counted. False if none is left.
   * Throws `BAD_VALUE` if it is not an object. Unchanged values are not sent again.
   */
  publish(values: Readonly<Record<string, unknown>>): boolean {
    const { counters } = this._session;
    const keys = keysOf(values);
    if (!keys) throw counters.emitError("BAD_VALUE", "values must be an object of keys and values");
    let changed = false;
    let taken = false;
    for (const key of keys.splice(0, MOST_KEYS)) {
      const { member, leftOut } = memberOf(key, values);
      const items = member === undefined ? undefined : this._with(key, member);
      counters.countLeftOut(WHAT, items || member === undefined ? leftOut : doesNotFit(key, 1));
      if (!items) continue;
      taken = true;
      changed ||= items !== this._items;
      this._items = items;
    }
    const [first] = keys;
    if (first !== undefined) counters.countLeftOut(WHAT, doesNotFit(first, keys.length));
    if (changed || (taken && !this._isStored)) this._save();
    return taken;
  }

  /** The items with this member; undefined if it does not fit. */
  private _with(key: string, member: string): Item[] | undefined {
    const at = this._items.findIndex((item) => item.key === key);
    if (at >= 0 && this._items[at]?.member === member) return this._items;
    const items = this._items.slice();
    items[at < 0 ? items.length : at] = { key, member, dirty: true };
    return this._session.host.encode(JSON.stringify(items.map(stored))).length > LIMIT ? undefined : items;
  }

  /** The next batch to send: at most `most` dirty attributes. */
  batch(most: number): AttributeBatch | undefined {
    const { redactor } = this._session;
    const items = this._items.filter(isDirty).slice(0, most);
    return items.length === 0
      ? undefined
      : { items, text: redactor.cleanJson(`{${items.map((item) => item.member).join(",")}}`) };
  }

  /** The platform accepted these. Attributes published again meanwhile stay dirty. */
  accepted(items: AttributeBatch["items"]): void {
    items.forEach((item) => {
      item.dirty = false;
    });
    this._save();
  }

  /** Drops attributes that the platform never accepts. */
  drop(items: AttributeBatch["items"]): void {
    this._items = this._items.filter((item) => !items.includes(item));
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
    this._isStored = writeStored(this._session.host, STORED, this._items.map(stored));
  }
}

/** Undefined if it is not an object, or a proxy that throws. */
const keysOf = (values: unknown): string[] | undefined => {
  try {
    return isObject(values) ? Object.keys(values) : undefined;
  } catch {
    return undefined;
  }
};

/** `"key":value` as JSON text, unless the whole value is left out. */
const memberOf = (
  key: string,
  values: Readonly<Record<string, unknown>>,
): { member?: string; leftOut?: LeftOut | undefined } => {
  if (key === MARKER_KEY) return { leftOut: leftOut(key, `"${key}" is reserved for the agent`) };
  try {
    const encoded = encodeValues({ [key]: values[key] });
    return encoded.ok ? { ...encoded, member: encoded.text.slice(1, -1) } : encoded;
  } catch {
    return { leftOut: leftOut(key, `${quoteShortened(key)} cannot be read`) };
  }
};

const doesNotFit = (key: string, count: number): LeftOut => {
  const reason = `${quoteShortened(key)} does not fit: all client attributes together may take ${LIMIT} bytes`;
  return leftOut(key, reason, true, count);
};

const leftOut = (key: string, reason: string, tooLarge = false, count = 1): LeftOut => {
  return { count, named: [{ key, reason, tooLarge }] };
};

export interface AttributeBatch {
  readonly items: readonly Item[];
  readonly text: string;
}
