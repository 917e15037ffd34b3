// The assigned update, according to the shared attributes.
import type { Host } from "../../port.js";
import { crcOf } from "../../wire/crypto/crc32.js";
import { toHex } from "../../wire/crypto/hex.js";
import { Murmur128 } from "../../wire/crypto/murmur128.js";
import { type Assigned, imageKey, parseAssignment } from "../../wire/firmware.js";
import type { Json, JsonObject } from "../../wire/text/json.js";

/** The platform deletes and writes the keys one by one, so two reads this far apart must agree. */
export const AGREE_MS = 2000;
/** Text of a read without any key of an assignment. */
const NOTHING = "{}";
/**
 * An incomplete set on which two reads agreed is read again this often, at this interval, before it
 * counts.
 */
const TORN_READS = 2;
const TORN_MS = 10_000;

export class AssignedUpdate {
  private readonly _host: Host;
  private readonly _keys: readonly string[];
  private _agreedText: string | undefined;
  private _candidate: string | undefined;
  private _candidateAt = 0;
  private _tornReads = 0;
  /** Value of `hash` for the set that `_tornReads` counts. */
  private _tornHash = -1;
  private _cancelRead: (() => void) | undefined;
  /** The assignment on which two reads agreed; undefined if there is none. */
  confirmed: Assigned | undefined;
  /**
   * Identifies the assigned image or the invalid set of keys; "" if nothing is confirmed or
   * assigned.
   */
  key = "";
  /** The confirmed assignment changed and changed back, so it was probably assigned again. */
  private _wasRepeated = false;
  /** `hash` before a sleep: if the first read after it is the same, two reads agree. */
  private _hashBeforeSleep = -1;
  private readonly _readAgain: () => void;

  /** `readAgain` requests a read of `keys`, which is then offered. */
  constructor(host: Host, keys: readonly string[], readAgain: () => void) {
    this._host = host;
    this._keys = keys;
    this._readAgain = readAgain;
  }

  /** True if the same assignment was made again since the last call. */
  takeRepeated(): boolean {
    const repeated = this._wasRepeated;
    this._wasRepeated = false;
    return repeated;
  }

  /** `hash` was the last read before a sleep. */
  resume(hash: number): void {
    this._hashBeforeSleep = hash;
  }

  /** The last read differs from the confirmed assignment, and no second read agreed yet. */
  get doubtful(): boolean {
    return this._candidate !== undefined;
  }

  /** Nothing was assigned in the only read so far. */
  get seemsAbsent(): boolean {
    return this._agreedText === undefined && this._candidate === NOTHING;
  }

  /** Hash of the last read; -1: no read yet. */
  get hash(): number {
    const text = this._candidate ?? this._agreedText;
    return text === undefined ? this._tornHash : this._hashOf(text);
  }

  /** Processes a read of all keys. True if it confirms something new. */
  offer(all: JsonObject): boolean {
    const there = this._keys.filter((key) => Object.hasOwn(all, key));
    const shared: JsonObject = Object.fromEntries(there.map((key) => [key, all[key] as Json]));
    const text = JSON.stringify(shared);
    if (text === this._agreedText) {
      const confirmed = this.doubtful;
      this._candidate = undefined;
      this._wasRepeated ||= confirmed;
      return confirmed;
    }
    const now = this._host.clock.now();
    // A sleep lasts long enough, so a read before it counts as the first one.
    const agreed = this._candidate === undefined && this._hashBeforeSleep === this._hashOf(text);
    this._hashBeforeSleep = -1;
    if (text !== this._candidate && !agreed) {
      this._candidate = text;
      this._candidateAt = now;
      this._readIn(AGREE_MS);
      return false;
    }
    if (!agreed && now - this._candidateAt < AGREE_MS) return false;
    const confirmed = parseAssignment(shared);
    // After a sleep the two reads are far enough apart; more would take longer than a wake.
    if (confirmed.kind === "torn" && !agreed && this._tornReads < TORN_READS) {
      this._tornReads++;
      this._tornHash = this._hashOf(text);
      this.forget(TORN_MS);
      return false;
    }
    this._tornReads = 0;
    this._tornHash = -1;
    this._candidate = undefined;
    this._agreedText = text;
    this.confirmed = confirmed;
    this.key = this._keyOf(confirmed, text);
    return true;
  }

  /** A notification reported a change that may be over before the next read. */
  doubt(): void {
    if (this._agreedText !== undefined) this._candidate ??= "";
  }

  /** Forgets the assignment, and reads again `inMs` from now. */
  forget(inMs: number): void {
    this._agreedText = undefined;
    this._candidate = undefined;
    this.confirmed = undefined;
    this.key = "";
    this._readIn(inMs);
  }

  private _hashOf(text: string): number {
    return crcOf(this._host, this._host.encode(text));
  }

  private _readIn(ms: number): void {
    this._cancelRead?.();
    this._cancelRead = undefined;
    // A timer would ask for a second read while the one that every start makes is under way.
    if (ms === 0) this._readAgain();
    else this._cancelRead = this._host.clock.timer(ms, this._readAgain);
  }

  private _keyOf(confirmed: Assigned, text: string): string {
    if (confirmed.kind === "absent") return "";
    const digest = new Murmur128();
    digest.write(this._host.encode(confirmed.kind === "assigned" ? imageKey(confirmed.assignment) : text));
    return toHex(digest.close());
  }
}
