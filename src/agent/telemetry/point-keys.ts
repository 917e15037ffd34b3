// Looks into the text of a point (an object as the agent wrote it itself) without parsing it.

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The end of the member that begins at `at`: the position of the comma behind it, or of the object's closing brace. */
export const memberEnd = (bytes: Uint8Array, at: number, to: number): number => {
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

/** How many members the object from `from` to `to` has; it has one at least. */
export const countMembers = (bytes: Uint8Array, from: number, to: number): number => {
  let members = 0;
  for (let at = from + 1; at < to; at = memberEnd(bytes, at, to) + 1) members++;
  return members;
};

/** Where member `index` of the object begins. */
export const memberAt = (bytes: Uint8Array, from: number, to: number, index: number): number => {
  let at = from + 1;
  for (let i = 0; i < index; i++) at = memberEnd(bytes, at, to) + 1;
  return at;
};

/** Which keys a batch holds, as hashes: two that look alike are taken for the same. */
export class KeySet {
  private readonly _hashes = new Int32Array(128);
  private _count = 0;

  clear(): void {
    this._count = 0;
  }

  /** Adds the keys of the object from `from` to `to`, unless one is there already or there is no room: then false. */
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

/** FNV-1a of a key's text up to its colon. */
const hashKey = (bytes: Uint8Array, at: number, to: number): number => {
  let hash = 0x811c9dc5;
  let quoted = false;
  for (let i = at; i < to; i++) {
    const byte = bytes[i] as number;
    if (byte === COLON && !quoted) break;
    if (byte === QUOTE) quoted = !quoted;
    else if (byte === BACKSLASH) i++;
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash;
};
