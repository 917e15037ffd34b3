// Removes secrets from output: log lines, errors, attributes, telemetry, RPC answers, crash texts.
//
// Finds a secret as it is, in another case, percent-encoded, escaped as in JSON, in hexadecimal,
// and in base64 of both alphabets at any offset. Decodes the text in each of these ways instead of
// encoding each secret: the cost depends on the text, and no encoded secret takes memory.
import type { Host, Redactor } from "../../port.js";

/** Replaces each word that contains a secret, or the whole text if that is not enough. */
export const HIDDEN = "***";
/** Replaces them if HIDDEN is itself a part of a secret. */
const OTHER_MASK = "(-)";
/** Secrets of up to so many bytes occur in any text by chance: they count only as whole words. */
const MAX_SHORT = 3;
/** Bytes of a secret that are stored and searched for: the maximum length of an access token. */
const MAX_SECRET = 255;
/** Maximum bytes of all secrets that are not pinned. */
const MAX_CONCEALED = 1024;
/** In an application's values, ignore shorter secrets: the text is likely to be something else. */
const MIN_IN_DATA = 8;
/** A part of a secret counts from this length on, if it changes its character class so often. */
const MIN_PART = 7;
const MIN_CHANGES = 3;
/** A seed is four bytes of a secret. There is one at every fourth byte; each may start a match. */
const SEED_BYTES = 4;
/** Hash buckets for the first two bytes of a seed. */
const BUCKETS = 128;
/** Fields of a seed: the next seed of its bucket, its offset, and the offset of its secret. */
const SEED_FIELDS = 3;
/** Layers of escapes that are removed: an escaped text may be escaped again. */
const MAX_UNESCAPES = 3;
/** Maximum number of secrets in one text that are masked one by one; beyond it, mask all of it. */
const MAX_MASKED = 16;
/** Characters of earlier lines that are searched together with the next line. */
const TAIL_LENGTH = 96;

const NO_BYTES = new Uint8Array(0);
const NO_SEEDS = new Uint16Array(0);
const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const ANY_ESCAPE = 0;
const PLUS = 0x2b;
const SPACE = 0x20;
const COLON = 0x3a;
const DELETE = 0x7f;
/** Values in SYMBOLS beyond the digits of base64. LINE_BREAK may be inside base64. */
const NOT_BASE64 = 64;
const LINE_BREAK = 65;
const CONTROL = 66;

/** The value of each byte as a base64 digit, in the standard and the URL-safe alphabet. */
const symbolTable = (): Uint8Array => {
  const table = new Uint8Array(256).fill(NOT_BASE64);
  for (let i = 0; i < 26; i++) {
    table[0x41 + i] = i;
    table[0x61 + i] = 26 + i;
  }
  for (let i = 0; i < 10; i++) table[0x30 + i] = 52 + i;
  table[PLUS] = 62;
  table[0x2d] = 62;
  table[0x2f] = 63;
  table[0x5f] = 63;
  table.fill(CONTROL, 0, SPACE);
  table[DELETE] = CONTROL;
  table[0x0a] = LINE_BREAK;
  table[0x0d] = LINE_BREAK;
  return table;
};
const SYMBOLS = symbolTable();

/** Value in HEX_VALUES of a byte that is not a hexadecimal digit. */
const NO_DIGIT = 16;

/** Maps a value of SYMBOLS to the hexadecimal digit that the same byte stands for. */
const digitTable = (): Uint8Array => {
  const table = new Uint8Array(CONTROL + 1).fill(NO_DIGIT);
  for (let i = 0; i < 6; i++) {
    table[i] = 10 + i;
    table[26 + i] = 10 + i;
  }
  for (let i = 0; i < 10; i++) table[52 + i] = i;
  return table;
};
const HEX_VALUES = digitTable();

/** Folds bytes for comparison: ASCII to lower case, "+" to space, control characters to 0. */
const foldedTable = (): Uint8Array => {
  const table = new Uint8Array(256);
  for (let i = SPACE; i < 256; i++) table[i] = i > 0x40 && i < 0x5b ? i + 0x20 : i;
  table[PLUS] = SPACE;
  table[DELETE] = 0;
  return table;
};
const FOLDED = foldedTable();

/** Removes the secrets of device and application from output. A run has one redactor. */
export class SecretRedactor implements Redactor {
  private readonly _host: Pick<Host, "encode">;
  /**
   * The secrets, each preceded by its length: pinned ones, then the others, oldest first. Private,
   * so that logging this object does not print them.
   */
  #secrets: Uint8Array = NO_BYTES;
  known = 0;
  /** End of the pinned secrets in `#secrets`. */
  private _pinnedEnd = 0;
  /** The index: the first seed of each bucket, or 0; then the seeds. */
  private _seeds = NO_SEEDS;
  /** Length of the shortest part or secret that is searched for in base64 and hexadecimal. */
  private _minLength = MIN_PART;
  /** True if some secrets only count as whole words. */
  private _hasShort = false;
  /** True if all secrets are ASCII. */
  private _isAscii = true;
  private _hasSpace = false;
  /** Where `_matches` last found a secret. */
  private _matchStart = 0;
  private _matchEnd = 0;
  /** True if the last text without secrets that `_containsEncoded` read has control characters. */
  private _hasControl = false;

  constructor(host: Pick<Host, "encode">) {
    this._host = host;
  }

  pin(secret: string): void {
    const bytes = this._toSecret(secret);
    if (bytes.length === 0 || this._has(bytes, 0, this._pinnedEnd)) return;
    this._insert(bytes, this._pinnedEnd);
    this._pinnedEnd += 1 + bytes.length;
    this._reindex();
  }

  conceal(secret: string): void {
    const bytes = this._toSecret(secret);
    if (bytes.length === 0 || this._has(bytes, 0, this.#secrets.length)) return;
    this._insert(bytes, this.#secrets.length);
    while (this.#secrets.length - this._pinnedEnd > MAX_CONCEALED) this._remove(this._pinnedEnd);
    this._reindex();
  }

  clean(text: string): string {
    if (!this.holds(text)) return text;
    const hidden = this.holds(HIDDEN) ? OTHER_MASK : HIDDEN;
    const plain = this._maskPlain(text, hidden);
    if (plain === undefined) return hidden;
    const words = plain.split(" ");
    for (let i = 0; i < words.length; i++) if (this.holds(words[i] as string)) words[i] = hidden;
    const clean = words.join(" ");
    return clean === text || this.holds(clean) ? hidden : clean;
  }

  /**
   * Masks the words that contain an unencoded secret. Undefined if the whole text must be masked.
   */
  private _maskPlain(text: string, hidden: string): string | undefined {
    let masked = text;
    for (let count = 0; count < MAX_MASKED; count++) {
      const bytes = this._host.encode(masked);
      if (!this._containsPlain(bytes, 0, false)) return masked;
      // Only in ASCII, byte positions are text positions. Otherwise the caller masks word by word,
      // which cannot find a secret with a space.
      if (bytes.length !== masked.length) return this._hasSpace ? undefined : masked;
      const from = masked.lastIndexOf(" ", this._matchStart) + 1;
      const end = masked.indexOf(" ", this._matchEnd);
      masked = `${masked.slice(0, from)}${hidden}${end < 0 ? "" : masked.slice(end)}`;
    }
    return undefined;
  }

  holds(text: string, before = ""): boolean {
    if (this.#secrets.length === 0 || text === "") return false;
    const since = before === "" ? 0 : this._host.encode(before).length;
    return this._contains(before + text, since, false);
  }

  cleanJson(text: string, hasKnownNames = false): string {
    if (this.#secrets.length === 0) return text;
    const pieces: string[] = [];
    let done = 0;
    let end = 0;
    for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', end)) {
      end = afterClosingQuote(text, open);
      if (end - open < MIN_IN_DATA || (hasKnownNames && text.charAt(end) === ":")) continue;
      if (!this._contains(text.slice(open, end), 0, true)) continue;
      pieces.push(text.slice(done, open), `"${HIDDEN}"`);
      done = end;
    }
    if (done === 0) return text;
    pieces.push(text.slice(done));
    return pieces.join("");
  }

  private _toSecret(secret: string): Uint8Array {
    const bytes = withoutControls(this._host.encode(secret));
    return bytes.length > MAX_SECRET ? bytes.subarray(0, MAX_SECRET) : bytes;
  }

  private _has(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at += 1 + (this.#secrets[at] as number)) {
      if (this.#secrets[at] !== bytes.length) continue;
      let same = 0;
      while (same < bytes.length && this.#secrets[at + 1 + same] === bytes[same]) same++;
      if (same === bytes.length) return true;
    }
    return false;
  }

  private _insert(bytes: Uint8Array, at: number): void {
    const before = this.#secrets;
    const all = new Uint8Array(before.length + 1 + bytes.length);
    all.set(before.subarray(0, at));
    all[at] = bytes.length;
    all.set(bytes, at + 1);
    all.set(before.subarray(at), at + 1 + bytes.length);
    this.#secrets = all;
  }

  private _remove(at: number): void {
    const before = this.#secrets;
    const length = 1 + (before[at] as number);
    const all = new Uint8Array(before.length - length);
    all.set(before.subarray(0, at));
    all.set(before.subarray(at + length), at);
    this.#secrets = all;
  }

  private _reindex(): void {
    this.known++;
    const secrets = this.#secrets;
    const index = new Uint16Array(BUCKETS + SEED_FIELDS * Math.floor(secrets.length / SEED_BYTES));
    let next = BUCKETS;
    this._minLength = MIN_PART;
    this._hasShort = false;
    this._isAscii = true;
    this._hasSpace = false;
    for (let start = 1; start < secrets.length; start += 1 + (secrets[start - 1] as number)) {
      const end = start + (secrets[start - 1] as number);
      if (end - start > MAX_SHORT) this._minLength = Math.min(this._minLength, end - start);
      else this._hasShort = true;
      for (let at = start; at < end; at++) {
        if ((secrets[at] as number) > DELETE) this._isAscii = false;
        if (secrets[at] === SPACE) this._hasSpace = true;
      }
      for (let at = start; at + SEED_BYTES <= end; at += SEED_BYTES) {
        // Equal seeds find the same secret. Indexing one of them keeps repetitive text cheap.
        if (isRepeated(secrets, start, at)) continue;
        const bucket = bucketOf(foldedAt(secrets, at), foldedAt(secrets, at + 1));
        index[next] = index[bucket] as number;
        index[next + 1] = at;
        index[next + 2] = start;
        index[bucket] = next;
        next += SEED_FIELDS;
      }
    }
    this._seeds = index;
  }

  /**
   * True if `text` contains a secret, encoded or not. `since`: ignore matches that end before this
   * offset. `isData`: ignore parts of secrets, and secrets shorter than MIN_IN_DATA.
   */
  private _contains(text: string, since: number, isData: boolean): boolean {
    const bytes = this._host.encode(text);
    if (this._containsInLayer(bytes, since, isData)) return true;
    const hasPercent = text.includes("%");
    const hasBackslash = text.includes("\\");
    if (hasPercent && this._containsEscaped(bytes, since, PERCENT, isData)) return true;
    if (hasBackslash && this._containsEscaped(bytes, since, BACKSLASH, isData)) return true;
    return hasPercent && hasBackslash && this._containsEscaped(bytes, since, ANY_ESCAPE, isData);
  }

  /** Removes escapes of one kind up to MAX_UNESCAPES times. True if a secret appears. */
  private _containsEscaped(given: Uint8Array, givenSince: number, kind: number, isData: boolean): boolean {
    let bytes = given;
    let since = givenSince;
    for (let round = 0; round < MAX_UNESCAPES; round++) {
      const { length } = bytes;
      since = since === 0 ? 0 : unescapeOnce(bytes.subarray(0, since), kind).length;
      bytes = unescapeOnce(bytes, kind);
      if (bytes.length === length) return false;
      if (this._containsInLayer(bytes, since, isData)) return true;
    }
    return false;
  }

  /** Searches for secrets as they are, in base64 and in hexadecimal, without removing escapes. */
  private _containsInLayer(bytes: Uint8Array, since: number, isData: boolean): boolean {
    if (this._containsPlain(bytes, since, isData)) return true;
    if (this._containsEncoded(bytes, since, isData)) return true;
    const text = this._hasControl ? withoutControls(bytes) : bytes;
    const from = this._hasControl ? withoutControls(bytes.subarray(0, since)).length : since;
    if (text !== bytes && this._containsPlain(text, from, isData)) return true;
    return !isData && this._hasShort && this._containsShort(text, from);
  }

  /** Searches for unencoded secrets of 4 bytes or more, and sets the position of the match. */
  private _containsPlain(text: Uint8Array, since: number, isData: boolean): boolean {
    const index = this._seeds;
    const { length } = text;
    let previous = FOLDED[text[0] as number] as number;
    for (let i = 1; i < length; i++) {
      const byte = FOLDED[text[i] as number] as number;
      let seed = index[(previous * 31 + byte) & (BUCKETS - 1)] as number;
      while (seed !== 0) {
        if (this._matches(text, since, i - 1, seed, isData)) return true;
        seed = index[seed] as number;
      }
      previous = byte;
    }
    return false;
  }

  /** True if the text around `i`, where `seed` may be, contains enough of its secret. */
  private _matches(text: Uint8Array, since: number, i: number, seed: number, isData: boolean): boolean {
    const secrets = this.#secrets;
    const start = this._seeds[seed + 2] as number;
    const end = start + (secrets[start - 1] as number);
    let to = this._seeds[seed + 1] as number;
    let from = to;
    let last = i;
    while (to < end && last < text.length && foldedAt(secrets, to) === foldedAt(text, last)) {
      to++;
      last++;
    }
    if (to - from < SEED_BYTES || last <= since) return false;
    let first = i;
    while (from > start && first > 0 && foldedAt(secrets, from - 1) === foldedAt(text, first - 1)) {
      from--;
      first--;
    }
    this._matchStart = first;
    this._matchEnd = last;
    if (to - from === end - start) return !isData || to - from >= MIN_IN_DATA;
    if (isData) return false;
    // Text that was truncated before may end with the first half of a secret.
    if (from === start && last === text.length && (to - from) * 2 >= end - start) return true;
    return to - from >= MIN_PART && countChanges(secrets, from, to) >= MIN_CHANGES;
  }

  /** True if a short secret is a whole word of `text`. */
  private _containsShort(text: Uint8Array, since: number): boolean {
    const secrets = this.#secrets;
    for (let start = 1; start < secrets.length; start += 1 + (secrets[start - 1] as number)) {
      const length = secrets[start - 1] as number;
      if (length > MAX_SHORT) continue;
      for (let i = Math.max(0, since - length + 1); i + length <= text.length; i++) {
        let same = 0;
        while (same < length && foldedAt(secrets, start + same) === foldedAt(text, i + same)) same++;
        if (same === length && !isLetterOrDigit(text, i - 1) && !isLetterOrDigit(text, i + length))
          return true;
      }
    }
    return false;
  }

  /**
   * True if `bytes` contain a secret in base64 or hexadecimal, also with spaces or colons between
   * the pairs of digits. If not, sets `_hasControl`.
   */
  private _containsEncoded(bytes: Uint8Array, since: number, isData: boolean): boolean {
    const shortest = this._minLength;
    const least = Math.ceil((shortest * 8) / 6);
    const { length } = bytes;
    let hasControl = false;
    let run = 0;
    let pairs = 0;
    let firstPair = 0;
    let lastPair = 0;
    for (let i = 0; i <= length; i++) {
      const byte = i < length ? (bytes[i] as number) : COLON;
      const symbol = SYMBOLS[byte] as number;
      if (symbol < NOT_BASE64) {
        run++;
        continue;
      }
      if (symbol > NOT_BASE64) hasControl = true;
      if (symbol === LINE_BREAK) {
        run++;
        continue;
      }
      if (run >= least && i > since && this._containsInRun(bytes, i - run, i, isData)) return true;
      if (run === 2) {
        if (pairs++ === 0) firstPair = i - 2;
        lastPair = i;
      }
      if (run !== 2 || (byte !== SPACE && byte !== COLON) || i === length) {
        const isLong = pairs >= shortest && lastPair > since;
        if (isLong && this._containsInRun(bytes, firstPair, lastPair, isData)) return true;
        pairs = 0;
      }
      run = 0;
    }
    this._hasControl = hasControl;
    return false;
  }

  /** Decodes base64 digits or pairs of hexadecimal digits. True if a secret appears. */
  private _containsInRun(bytes: Uint8Array, from: number, to: number, isData: boolean): boolean {
    const found = offsetsOf(bytes, from, to);
    const offsets = this._isAscii ? found : found | ALL_OFFSETS;
    for (let skip = 0; skip < 4; skip++)
      if ((offsets >> skip) & 1 && this._containsPlain(decodeBase64(bytes, from, to, skip), 0, isData))
        return true;
    if (offsets < HAS_HEX) return false;
    for (let skip = 0; skip < 2; skip++) {
      const text = decodeHex(bytes, from, to, skip);
      if (text.length >= this._minLength && this._containsPlain(text, 0, isData)) return true;
    }
    return false;
  }
}

/** Cleans consecutive lines. Also removes a secret that continues on the next line. */
export class LineCleaner {
  private readonly _redactor: Redactor;
  private _tail = "";

  constructor(redactor: Redactor) {
    this._redactor = redactor;
  }

  clean(line: string): string {
    const before = this._tail;
    const joined = before + line;
    const clean = this._redactor.clean(line);
    // Forget a line with a whole secret, or it would hide the next line too. Keep half a secret at
    // its end: the next line may contain the other half.
    if (clean !== line && this._redactor.holds(`${line} `)) this._tail = "";
    else this._tail = joined.length > TAIL_LENGTH ? joined.slice(joined.length - TAIL_LENGTH) : joined;
    return this._redactor.holds(clean, before) ? this._redactor.clean(HIDDEN) : clean;
  }
}

const foldedAt = (bytes: Uint8Array, at: number): number => FOLDED[bytes[at] as number] as number;

/** True if the seed at `at` equals an earlier one of the secret that begins at `start`. */
const isRepeated = (secrets: Uint8Array, start: number, at: number): boolean => {
  for (let other = start; other < at; other += SEED_BYTES) {
    let same = 0;
    while (same < SEED_BYTES && foldedAt(secrets, other + same) === foldedAt(secrets, at + same)) same++;
    if (same === SEED_BYTES) return true;
  }
  return false;
};

const bucketOf = (first: number, second: number): number => (first * 31 + second) & (BUCKETS - 1);

const isLetterOrDigit = (text: Uint8Array, at: number): boolean =>
  at >= 0 && at < text.length && (SYMBOLS[text[at] as number] as number) < 62;

/** A copy of `bytes` without control characters; `bytes` itself if it has none. */
const withoutControls = (bytes: Uint8Array): Uint8Array => {
  let end = 0;
  while (end < bytes.length && FOLDED[bytes[end] as number] !== 0) end++;
  if (end === bytes.length) return bytes;
  const text = bytes.slice();
  for (let i = end; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (FOLDED[byte] !== 0) text[end++] = byte;
  }
  return text.subarray(0, end);
};

/** Counts changes between lower case, upper case and digits, ignoring other characters. */
const countChanges = (bytes: Uint8Array, from: number, to: number): number => {
  let count = -1;
  let before = OTHER;
  for (let i = from; i < to; i++) {
    const kind = classOf(bytes[i] as number);
    if (kind !== OTHER && kind !== before) count++;
    if (kind !== OTHER) before = kind;
  }
  return count;
};

const OTHER = 3;
const classOf = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return 0;
  if (byte >= 0x41 && byte <= 0x5a) return 1;
  return byte >= 0x61 && byte <= 0x7a ? 2 : OTHER;
};

/** Separates decoded hexadecimal strings. Never a byte of UTF-8, so no secret contains it. */
const SEPARATOR = 0xff;
/** Bytes of the shortest hexadecimal string that is searched. */
const MIN_HEX_BYTES = 4;

/** Bits in the result of `offsetsOf`: all four offsets, and a hexadecimal string. */
const ALL_OFFSETS = 15;
const HAS_HEX = 16;

/**
 * The offsets, as bits 0 to 3, from which base64 may decode to ASCII, plus HAS_HEX if there is a
 * long enough hexadecimal string. Most words have none of these.
 */
const offsetsOf = (bytes: Uint8Array, from: number, to: number): number => {
  let offsets = 0;
  let count = 0;
  let hexDigits = 0;
  let first = NOT_BASE64;
  let second = NOT_BASE64;
  for (let i = from; i < to; i++) {
    const symbol = SYMBOLS[bytes[i] as number] as number;
    if (symbol >= NOT_BASE64) continue;
    if (first > 7 && first < 32 && (second & 15) > 1 && (second & 15) < 8 && (symbol & 3) < 2)
      offsets |= 1 << ((count - 2) & 3);
    first = second;
    second = symbol;
    count++;
    hexDigits = HEX_VALUES[symbol] === NO_DIGIT ? 0 : hexDigits + 1;
    if (hexDigits === 2 * MIN_HEX_BYTES) offsets |= HAS_HEX;
  }
  return offsets;
};

/** Decodes each hexadecimal string between `from` and `to`, without its first `skip` digits. */
const decodeHex = (bytes: Uint8Array, from: number, to: number, skip: number): Uint8Array => {
  // Eight digits and the byte that ends them give four bytes and a separator: 5 bytes for 9.
  const text = new Uint8Array((((to - from) * 5) >> 3) + 2);
  let left = skip;
  let high = -1;
  let start = 0;
  let end = 0;
  for (let i = from; i < to; i++) {
    const symbol = SYMBOLS[bytes[i] as number] as number;
    if (symbol >= NOT_BASE64) continue;
    const digit = HEX_VALUES[symbol] as number;
    if (digit === NO_DIGIT) {
      if (end - start < MIN_HEX_BYTES) end = start;
      else text[end++] = SEPARATOR;
      start = end;
      high = -1;
      left = skip;
    } else if (left > 0) left--;
    else if (high < 0) high = digit;
    else {
      text[end++] = high * 16 + digit;
      high = -1;
    }
  }
  return withoutControls(text.subarray(0, end));
};

/** Decodes base64 between `from` and `to`, without the first `skip` digits. */
const decodeBase64 = (bytes: Uint8Array, from: number, to: number, skip: number): Uint8Array => {
  const text = new Uint8Array(((to - from) * 3) >> 2);
  let left = skip;
  let bits = 0;
  let held = 0;
  let end = 0;
  for (let i = from; i < to; i++) {
    const symbol = SYMBOLS[bytes[i] as number] as number;
    if (symbol >= NOT_BASE64 || left-- > 0) continue;
    bits = ((bits << 6) | symbol) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    text[end++] = bits >> held;
  }
  return withoutControls(text.subarray(0, end));
};

/**
 * Decodes escapes (%41, \x41, \u0041, \n) once. `kind`: PERCENT, BACKSLASH or ANY_ESCAPE; other
 * escapes stay.
 */
const unescapeOnce = (bytes: Uint8Array, kind: number): Uint8Array => {
  const text = new Uint8Array(bytes.length);
  let end = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    const isBackslash = byte === BACKSLASH && kind !== PERCENT;
    const letter = isBackslash ? (bytes[i + 1] as number) : kind === BACKSLASH ? 0 : byte;
    const isLong = isBackslash && letter === 0x75;
    const isShort = isBackslash ? letter === 0x78 : letter === PERCENT;
    const digits = isLong ? 4 : isShort ? 2 : 0;
    const first = isBackslash ? i + 2 : i + 1;
    const code = digits === 0 ? -1 : hexNumberAt(bytes, first, digits);
    if (code >= 0) {
      end = digits === 4 ? writeUtf8(text, end, code) : writeByte(text, end, code);
      i = first + digits - 1;
    } else if (isBackslash && i + 1 < bytes.length) {
      i++;
      text[end++] = CONTROL_LETTERS.includes(String.fromCharCode(letter)) ? 0x0a : letter;
    } else text[end++] = byte;
  }
  return text.subarray(0, end);
};

/** Letters that mean a control character after a backslash. */
const CONTROL_LETTERS = "bfnrtv";

/** The value of `digits` hexadecimal digits; -1 if other characters are among them. */
const hexNumberAt = (bytes: Uint8Array, from: number, digits: number): number => {
  let number = 0;
  for (let i = from; i < from + digits; i++) {
    const symbol = i < bytes.length ? (SYMBOLS[bytes[i] as number] as number) : NOT_BASE64;
    const digit = HEX_VALUES[symbol] as number;
    if (digit === NO_DIGIT) return -1;
    number = number * 16 + digit;
  }
  return number;
};

const writeByte = (text: Uint8Array, at: number, byte: number): number => {
  text[at] = byte;
  return at + 1;
};

/** Appends a UTF-16 unit as UTF-8. The second half of a surrogate pair completes the first. */
const writeUtf8 = (text: Uint8Array, at: number, code: number): number => {
  if (code < 0x80) return writeByte(text, at, code);
  if (code < 0x800) return writeByte(text, writeByte(text, at, 0xc0 | (code >> 6)), 0x80 | (code & 0x3f));
  const before = text[at - 2] as number;
  const isSecond = code >= 0xdc00 && code < 0xe000 && at >= 3 && text[at - 3] === 0xed && before < 0xb0;
  if (!isSecond) {
    const second = writeByte(text, writeByte(text, at, 0xe0 | (code >> 12)), 0x80 | ((code >> 6) & 0x3f));
    return writeByte(text, second, 0x80 | (code & 0x3f));
  }
  const high = (((text[at - 2] as number) & 0x0f) << 6) | ((text[at - 1] as number) & 0x3f);
  const whole = 0x10000 + (high << 10) + (code - 0xdc00);
  const second = writeByte(
    text,
    writeByte(text, at - 3, 0xf0 | (whole >> 18)),
    0x80 | ((whole >> 12) & 0x3f),
  );
  return writeByte(text, writeByte(text, second, 0x80 | ((whole >> 6) & 0x3f)), 0x80 | (whole & 0x3f));
};

/** Position after the quote that closes the string at `open`; the end of `text` if none does. */
const afterClosingQuote = (text: string, open: number): number => {
  let end = text.indexOf('"', open + 1);
  while (end >= 0) {
    let slashes = 0;
    while (text.charAt(end - 1 - slashes) === "\\") slashes++;
    if (slashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
};
