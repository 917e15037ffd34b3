// Scans the text of a point (an object that the agent encoded) without parsing it.

import { hash32 } from "../../wire/crypto/hash32.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** End of the member at `at`: the position of the next comma or of the object's closing brace. */
const memberEnd = (bytes: Uint8Array, at: number, to: number): number => {
  let depth = 0;
  let quoted = false;
  for (let i = at; i < to; i++) {
    const byte = bytes[i];
    if (quoted) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACE)) return i;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return to;
};

/** Hashes of the keys in a batch. Keys with equal hashes count as the same key. */
export class KeySet {
  private readonly _hashes = new Int32Array(128);
  private _count = 0;

  clear(): void {
    this._count = 0;
  }

  /**
   * Adds the keys of the object from `from` to `to`. False, adding none, if one is present or there
   * is no room.
   */
  add(bytes: Uint8Array, from: number, to: number): boolean {
    const before = this._count;
    for (let at = from + 1; at < to; at = memberEnd(bytes, at, to) + 1) {
      const hash = hashKey(bytes, at, to);
      if (this._has(hash, before) || this._count === this._hashes.length) {
        this._count = before;
        return false;
      }
      this._hashes[this._count++] = hash;
    }
    return true;
  }

  private _has(hash: number, count: number): boolean {
    for (let i = 0; i < count; i++) if (this._hashes[i] === hash) return true;
    return false;
  }
}

/** Hash of the key at `at`, with its opening quote, as a signed number. */
const hashKey = (bytes: Uint8Array, at: number, to: number): number => {
  let end = at + 1;
  while (end < to && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
  return hash32(bytes, at, Math.min(end, to)) | 0;
};
