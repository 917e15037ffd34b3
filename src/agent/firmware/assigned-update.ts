// What the platform assigned, as far as the shared attributes say.
import type { Host } from "../../port.js";
import { crc32 } from "../../wire/crypto/crc32.js";
import { toHex } from "../../wire/crypto/hex.js";
import { Murmur128 } from "../../wire/crypto/murmur128.js";
import { type Assigned, imageKey, parseAssignment } from "../../wire/firmware.js";
import type { Json, JsonObject } from "../../wire/text/json.js";

/** The platform writes the keys one after the other, after deleting some: only what two looks this far apart agree on counts. */
export const AGREE_MS = 2000;
/** An incomplete set on which two looks agreed is looked at again so often, so far apart, before it is believed. */
const TORN_LOOKS = 2;
const TORN_MS = 10_000;

export class AssignedUpdate {
  private readonly _host: Host;
  private readonly _keys: readonly string[];
  private _text: string | undefined;
  private _candidate: string | undefined;
  private _since = 0;
  private _torn = 0;
  /** `look` at the set that `_torn` counts. */
  private _tornLook = -1;
  private _cancel: (() => void) | undefined;
  /** What two looks agreed on; undefined as long as there is nothing that they did. */
  confirmed: Assigned | undefined;
  /** Stands for the image that is assigned, or for the invalid set of keys; "" if nothing is confirmed or assigned. */
  key = "";
  /** The confirmed assignment was in doubt and came back: most likely it was assigned again. */
  private _repeated = false;
  /** `look` before a sleep: the first read may agree with it. */
  private _before = -1;
  private readonly _reader: { readSoon(): void };

  constructor(host: Host, keys: readonly string[], reader: { readSoon(): void }) {
    this._host = host;
    this._keys = keys;
    this._reader = reader;
  }

  /** Whether the same assignment was made again since the last call. */
  takeRepeated(): boolean {
    const repeated = this._repeated;
    this._repeated = false;
    return repeated;
  }

  /** `look` was the last one before a sleep. */
  resume(look: number): void {
    this._before = look;
  }

  /** The last look said something else than what is confirmed, and no second one agreed yet. */
  get doubtful(): boolean {
    return this._candidate !== undefined;
  }

  /** Stands for what the last look saw; -1: there was none. */
  get look(): number {
    const text = this._candidate ?? this._text;
    return text === undefined ? this._tornLook : this._check(text);
  }

  /** Takes a look at all keys. True if something is confirmed now that was not before. */
  offer(all: JsonObject): boolean {
    const there = this._keys.filter((key) => Object.hasOwn(all, key));
    const shared: JsonObject = Object.fromEntries(there.map((key) => [key, all[key] as Json]));
    const text = JSON.stringify(shared);
    if (text === this._text) {
      const confirmed = this.doubtful;
      this._candidate = undefined;
      this._repeated ||= confirmed;
      return confirmed;
    }
    const now = this._host.clock.now();
    // A look before the last sleep, however it ended, is long enough ago.
    const agreed = this._candidate === undefined && this._before === this._check(text);
    this._before = -1;
    if (text !== this._candidate && !agreed) {
      this._candidate = text;
      this._since = now;
      this._lookIn(AGREE_MS);
      return false;
    }
    if (!agreed && now - this._since < AGREE_MS) return false;
    const confirmed = parseAssignment(shared);
    // A sleep is as good as those looks, and no wake is as long as they take.
    if (confirmed.kind === "torn" && !agreed && this._torn < TORN_LOOKS) {
      this._torn++;
      this._tornLook = this._check(text);
      this.forget(TORN_MS);
      return false;
    }
    this._torn = 0;
    this._tornLook = -1;
    this._candidate = undefined;
    this._text = text;
    this.confirmed = confirmed;
    this.key = this._name(confirmed, text);
    return true;
  }

  /** The platform notified of a change that may be over before the next look. */
  doubt(): void {
    if (this._text !== undefined) this._candidate ??= "";
  }

  /** Believes nothing any more, and looks again `inMs` from now. */
  forget(inMs: number): void {
    this._text = undefined;
    this._candidate = undefined;
    this.confirmed = undefined;
    this.key = "";
    this._lookIn(inMs);
  }

  private _check(text: string): number {
    const bytes = this._host.encode(text);
    return crc32(bytes, 0, bytes.length);
  }

  private _lookIn(ms: number): void {
    this._cancel?.();
    this._cancel = this._host.clock.timer(ms, () => this._reader.readSoon());
  }

  private _name(confirmed: Assigned, text: string): string {
    if (confirmed.kind === "absent") return "";
    const digest = new Murmur128();
    digest.write(this._host.encode(confirmed.kind === "assigned" ? imageKey(confirmed.assignment) : text));
    return toHex(digest.close());
  }
}
