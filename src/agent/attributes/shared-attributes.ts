// The shared attributes as the application knows them: their last known values and its subscribers.
import type { Events } from "../../events.js";
import { guarded } from "../../guarded.js";
import type { Host } from "../../port.js";
import { deleteStored, forgetStored, readStored, writeText } from "../../store.js";
import type { Change } from "../../wire/attributes.js";
import { isObject, type Json, type JsonObject } from "../../wire/text/json.js";
import { quote } from "../../wire/text/text.js";
import type { Subscriber } from "./api.js";

const STORED = "shared";
/** An attribute is deleted if two trusted answers lack it that are at least this far apart. */
export const SECOND_READ_MS = 2000;

interface KnownValue {
  /** JSON text, for comparing, storing and handing out. Undefined: the attribute does not exist. */
  text: string | undefined;
  /** Time of the first trusted answer without the attribute since it was last present. */
  missingSince: number | undefined;
}

interface Subscription {
  readonly key: string;
  readonly call: Subscriber;
}

/**
 * Tells subscribers what is new. The values are stored, so that a device without a network starts
 * with its last known ones.
 */
export class SharedAttributes {
  private readonly _host: Host;
  private readonly _events: Events;
  private readonly _known = new Map<string, KnownValue>();
  private readonly _subscriptions: Subscription[] = [];
  /** Keys that the application subscribed to, each once. */
  keys: readonly string[] = [];

  constructor(host: Host, events: Events) {
    this._host = host;
    this._events = events;
    const stored = readStored(host, STORED);
    if (isObject(stored)) for (const key of Object.keys(stored)) this._isNew(key, stored[key]);
  }

  /**
   * Adds a subscriber, and tells it what is known. Returns a function that ends the subscription.
   */
  subscribe(key: string, call: Subscriber): () => void {
    const subscription = { key, call };
    this._subscriptions.push(subscription);
    this._listKeys();
    if (this._known.has(key)) this._tell(subscription);
    return () => {
      const at = this._subscriptions.indexOf(subscription);
      if (at >= 0) this._subscriptions.splice(at, 1);
      this._listKeys();
    };
  }

  /** A poll reported that attributes changed or were deleted. */
  applyChange({ keys, values }: Change): void {
    const own = this.keys.filter((key) => keys.includes(key));
    if (values)
      this._changed(
        own.filter((key) => this._isNew(key, values[key])),
        [],
      );
    else
      this._changed(
        [],
        own.filter((key) => this._remove(key)),
      );
  }

  /**
   * A trusted answer for `keys`: one that is missing in `values` does not exist. Returns true if a
   * second answer must confirm that.
   */
  applyRead(keys: readonly string[], values: JsonObject): boolean {
    const now = this._host.clock.now();
    const changed: string[] = [];
    const deleted: string[] = [];
    const absent: string[] = [];
    let isPending = false;
    for (const key of this.keys) {
      if (!keys.includes(key)) continue;
      const known = this._known.get(key);
      if (Object.hasOwn(values, key)) {
        if (this._isNew(key, values[key])) changed.push(key);
      } else if (!known) {
        this._known.set(key, { text: undefined, missingSince: undefined });
        absent.push(key);
      } else if (known.text !== undefined) {
        known.missingSince ??= now;
        if (now - known.missingSince < SECOND_READ_MS) isPending = true;
        else if (this._remove(key)) deleted.push(key);
      }
    }
    this._changed(changed, deleted);
    this._tellAll(absent);
    return isPending;
  }

  forget(): boolean {
    this._known.clear();
    return forgetStored(this._host, STORED);
  }

  /** Notes a value. True if it is new. */
  private _isNew(key: string, value: Json | undefined): boolean {
    const text = JSON.stringify(value);
    const isNew = this._known.get(key)?.text !== text;
    this._known.set(key, { text, missingSince: undefined });
    return isNew;
  }

  /** Notes that an attribute does not exist. True if it did. */
  private _remove(key: string): boolean {
    const known = this._known.get(key);
    if (known?.text === undefined) return false;
    known.text = undefined;
    return true;
  }

  private _changed(keys: string[], deleted: string[]): void {
    if (keys.length === 0 && deleted.length === 0) return;
    this._save();
    this._events.emit("attributes", { keys, deleted });
    this._tellAll(keys.concat(deleted));
  }

  private _save(): void {
    const members: string[] = [];
    this._known.forEach(({ text }, key) => {
      if (text !== undefined) members.push(`${quote(key)}:${text}`);
    });
    // Values that do not fit must not come back at a restart as they were before.
    if (!writeText(this._host, STORED, `{${members.join(",")}}`)) deleteStored(this._host, STORED);
  }

  private _listKeys(): void {
    this.keys = this._subscriptions.map(({ key }) => key).filter((key, at, all) => all.indexOf(key) === at);
  }

  private _tellAll(keys: readonly string[]): void {
    for (const subscription of this._subscriptions.slice()) {
      // A call before this one may have ended the subscription.
      if (keys.includes(subscription.key) && this._subscriptions.includes(subscription))
        this._tell(subscription);
    }
  }

  private _tell({ key, call }: Subscription): void {
    guarded(this._host, "a subscriber of a shared attribute threw", () => {
      const text = this._known.get(key)?.text;
      // A fresh copy, so that a subscriber cannot change what others get.
      return call(text === undefined ? undefined : (JSON.parse(text) as Json));
    });
  }
}
