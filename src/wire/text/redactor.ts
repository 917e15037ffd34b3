// Removes secrets from output: log lines, errors, attributes, telemetry, RPC answers, crash texts.
//
// Finds a secret as it is, in another case, percent-encoded, escaped as in JSON, in hexadecimal,
// and in base64 of both alphabets at any offset. Decodes the text in each of these ways instead of
// encoding each secret: the cost depends on the text, and no encoded secret takes memory.
import type { Host, Redactor } from "../../port.js";

/** In place of each word that shows a secret, or of the whole text if it shows one then still. */
export const HIDDEN = "***";
/** In place of that, where it is itself a part of a secret. */
const HIDDEN_TOO = "(-)";
/** So many letters are in every text: they count as a secret only where they stand alone. */
const SHORT = 3;
/** Bytes of a secret that are known: as many as a token may have. */
const LONGEST = 255;
/** Bytes of all secrets together that are not the device's own. */
const NAMED_BYTES = 1024;
/** An application's values may hold a shorter text that is a secret elsewhere. */
const SHORTEST_IN_DATA = 8;
/** A part of a secret counts from this length on, if its character classes alternate this often. */
const PIECE = 7;
const CHANGES = 3;
/** A match is looked for by so many bytes, at every fourth byte of each secret. */
const SEED = 4;
const BUCKETS = 128;
/** Members of a seed: the next one of its bucket, its place, the place where its secret begins. */
const FIELDS = 3;
/** An escaped text may be escaped again. */
const ROUNDS = 3;
/** Secrets in one text that are hidden one by one. With more, the whole text is hidden. */
const MOST_SHOWN = 16;
/** Characters of the lines before that a line may go on with. */
const TAIL = 96;

const NONE = new Uint8Array(0);
const NO_SEEDS = new Uint16Array(0);
const PERCENT = 0x25;
const BACKSLASH = 0x5c;
const BOTH = 0;
const PLUS = 0x2b;
const BLANK = 0x20;
const COLON = 0x3a;
const DELETE = 0x7f;
/** In SYMBOLS: what ends base64, what it may be broken by, and other control characters. */
const END = 64;
const BREAK = 65;
const CONTROL = 66;

/** What each byte stands for in base64, of either alphabet. */
const symbolTable = (): Uint8Array => {
  const table = new Uint8Array(256).fill(END);
  for (let i = 0; i < 26; i++) {
    table[0x41 + i] = i;
    table[0x61 + i] = 26 + i;
  }
  for (let i = 0; i < 10; i++) table[0x30 + i] = 52 + i;
  table[PLUS] = 62;
  table[0x2d] = 62;
  table[0x2f] = 63;
  table[0x5f] = 63;
  table.fill(CONTROL, 0, BLANK);
  table[DELETE] = CONTROL;
  table[0x0a] = BREAK;
  table[0x0d] = BREAK;
  return table;
};
const SYMBOLS = symbolTable();

/** In HEX_VALUES: no digit. */
const NO_DIGIT = 16;

/** The value of each entry of SYMBOLS as a hexadecimal digit. */
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

/** Mapping for comparisons: ASCII in lower case, plus signs as blanks. Control characters are 0. */
const comparedTable = (): Uint8Array => {
  const table = new Uint8Array(256);
  for (let i = BLANK; i < 256; i++) table[i] = i > 0x40 && i < 0x5b ? i + 0x20 : i;
  table[PLUS] = BLANK;
  table[DELETE] = 0;
  return table;
};
const COMPARED = comparedTable();

/** Keeps the secrets of device and application out of its output; one object for a whole run. */
export class SecretRedactor implements Redactor {
  private readonly _host: Pick<Host, "encode">;
  /**
   * The secrets, each preceded by its length: pinned ones, then the others, oldest first. Private,
   * so that logging this object does not show them.
   */
  #secrets: Uint8Array = NONE;
  known = 0;
  private _ownEnd = 0;
  /** For each bucket its first seed, 0 for none; then the seeds. */
  private _index = NO_SEEDS;
  /**
   * Length of the shortest secret that may be encoded; whether some only count as whole words, and
   * whether all are ASCII.
   */
  private _shortest = PIECE;
  private _hasShort = false;
  private _isAscii = true;
  private _hasBlank = false;
  /** Where `_isAround` last found a secret. */
  private _from = 0;
  private _to = 0;

  constructor(host: Pick<Host, "encode">) {
    this._host = host;
  }

  pin(secret: string): void {
    const bytes = this._bytesOf(secret);
    if (bytes.length === 0 || this._has(bytes, 0, this._ownEnd)) return;
    this._insert(bytes, this._ownEnd);
    this._ownEnd += 1 + bytes.length;
    this._learn();
  }

  conceal(secret: string): void {
    const bytes = this._bytesOf(secret);
    if (bytes.length === 0 || this._has(bytes, 0, this.#secrets.length)) return;
    this._insert(bytes, this.#secrets.length);
    while (this.#secrets.length - this._ownEnd > NAMED_BYTES) this._remove(this._ownEnd);
    this._learn();
  }

  clean(text: string): string {
    if (!this.holds(text)) return text;
    const hidden = this.holds(HIDDEN) ? HIDDEN_TOO : HIDDEN;
    const plain = this._hideShown(text, hidden);
    if (plain === undefined) return hidden;
    const words = plain.split(" ");
    for (let i = 0; i < words.length; i++) if (this.holds(words[i] as string)) words[i] = hidden;
    const clean = words.join(" ");
    return clean === text || this.holds(clean) ? hidden : clean;
  }

  /**
   * Hides words with unencoded secrets. Undefined: the place of a secret with a blank is unknown.
   */
  private _hideShown(text: string, hidden: string): string | undefined {
    let shown = text;
    for (let rounds = 0; rounds < MOST_SHOWN; rounds++) {
      const bytes = this._host.encode(shown);
      if (!this._isShown(bytes, 0, false)) return shown;
      // Byte positions equal text positions only in ASCII. Otherwise hide word by word.
      if (bytes.length !== shown.length) return this._hasBlank ? undefined : shown;
      const from = shown.lastIndexOf(" ", this._from) + 1;
      const end = shown.indexOf(" ", this._to);
      shown = `${shown.slice(0, from)}${hidden}${end < 0 ? "" : shown.slice(end)}`;
    }
    return undefined;
  }

  holds(text: string, before = ""): boolean {
    if (this.#secrets.length === 0 || text === "") return false;
    const since = before === "" ? 0 : this._host.encode(before).length;
    return this._isIn(before + text, since, false);
  }

  cleanJson(text: string, hasKnownNames = false): string {
    if (this.#secrets.length === 0) return text;
    const pieces: string[] = [];
    let done = 0;
    let end = 0;
    for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', end)) {
      end = closingQuote(text, open);
      if (end - open < SHORTEST_IN_DATA || (hasKnownNames && text.charAt(end) === ":")) continue;
      if (!this._isIn(text.slice(open, end), 0, true)) continue;
      pieces.push(text.slice(done, open), `"${HIDDEN}"`);
      done = end;
    }
    if (done === 0) return text;
    pieces.push(text.slice(done));
    return pieces.join("");
  }

  private _bytesOf(secret: string): Uint8Array {
    const bytes = printable(this._host.encode(secret));
    return bytes.length > LONGEST ? bytes.subarray(0, LONGEST) : bytes;
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

  private _learn(): void {
    this.known++;
    const secrets = this.#secrets;
    const index = new Uint16Array(BUCKETS + FIELDS * Math.floor(secrets.length / SEED));
    let next = BUCKETS;
    this._shortest = PIECE;
    this._hasShort = false;
    this._isAscii = true;
    this._hasBlank = false;
    for (let start = 1; start < secrets.length; start += 1 + (secrets[start - 1] as number)) {
      const end = start + (secrets[start - 1] as number);
      if (end - start > SHORT) this._shortest = Math.min(this._shortest, end - start);
      else this._hasShort = true;
      for (let at = start; at < end; at++) {
        if ((secrets[at] as number) > DELETE) this._isAscii = false;
        if (secrets[at] === BLANK) this._hasBlank = true;
      }
      for (let at = start; at + SEED <= end; at += SEED) {
        // One of several alike finds the whole secret too, and a repetitive text costs no more.
        if (repeats(secrets, start, at)) continue;
        const bucket = bucketOf(comparedAt(secrets, at), comparedAt(secrets, at + 1));
        index[next] = index[bucket] as number;
        index[next + 1] = at;
        index[next + 2] = start;
        index[bucket] = next;
        next += FIELDS;
      }
    }
    this._index = index;
  }

  /**
   * `since`: ignore matches that end before it. `isData`: only whole secrets count, no short ones.
   */
  private _isIn(text: string, since: number, isData: boolean): boolean {
    const bytes = this._host.encode(text);
    if (this._isInLayer(bytes, since, isData)) return true;
    const hasPercent = text.includes("%");
    const hasBackslash = text.includes("\\");
    if (hasPercent && this._isBelow(bytes, since, PERCENT, isData)) return true;
    if (hasBackslash && this._isBelow(bytes, since, BACKSLASH, isData)) return true;
    return hasPercent && hasBackslash && this._isBelow(bytes, since, BOTH, isData);
  }

  /** In what comes of the bytes by taking escapes of this kind away, and again. */
  private _isBelow(given: Uint8Array, givenSince: number, kind: number, isData: boolean): boolean {
    let bytes = given;
    let since = givenSince;
    for (let round = 0; round < ROUNDS; round++) {
      const { length } = bytes;
      since = since === 0 ? 0 : unescaped(bytes.subarray(0, since), kind).length;
      bytes = unescaped(bytes, kind);
      if (bytes.length === length) return false;
      if (this._isInLayer(bytes, since, isData)) return true;
    }
    return false;
  }

  private _isInLayer(bytes: Uint8Array, since: number, isData: boolean): boolean {
    if (this._isShown(bytes, since, isData)) return true;
    const encoded = this._isEncoded(bytes, since, isData);
    if (encoded === true) return true;
    const text = encoded === undefined ? printable(bytes) : bytes;
    const from = encoded === undefined ? printable(bytes.subarray(0, since)).length : since;
    if (encoded === undefined && this._isShown(text, from, isData)) return true;
    return !isData && this._hasShort && this._standsAlone(text, from);
  }

  private _isShown(text: Uint8Array, since: number, isData: boolean): boolean {
    const index = this._index;
    const { length } = text;
    let one = COMPARED[text[0] as number] as number;
    for (let i = 1; i < length; i++) {
      const other = COMPARED[text[i] as number] as number;
      let seed = index[(one * 31 + other) & (BUCKETS - 1)] as number;
      while (seed !== 0) {
        if (this._isAround(text, since, i - 1, seed, isData)) return true;
        seed = index[seed] as number;
      }
      one = other;
    }
    return false;
  }

  /** Whether enough of the secret of `seed` lies around `i`. */
  private _isAround(text: Uint8Array, since: number, i: number, seed: number, isData: boolean): boolean {
    const secrets = this.#secrets;
    const start = this._index[seed + 2] as number;
    const end = start + (secrets[start - 1] as number);
    let to = this._index[seed + 1] as number;
    let from = to;
    let last = i;
    while (to < end && last < text.length && comparedAt(secrets, to) === comparedAt(text, last)) {
      to++;
      last++;
    }
    if (to - from < SEED || last <= since) return false;
    let first = i;
    while (from > start && first > 0 && comparedAt(secrets, from - 1) === comparedAt(text, first - 1)) {
      from--;
      first--;
    }
    this._from = first;
    this._to = last;
    if (to - from === end - start) return !isData || to - from >= SHORTEST_IN_DATA;
    if (isData) return false;
    // What was cut on its way here may end with the beginning of a secret.
    if (from === start && last === text.length && (to - from) * 2 >= end - start) return true;
    return to - from >= PIECE && changes(secrets, from, to) >= CHANGES;
  }

  private _standsAlone(text: Uint8Array, since: number): boolean {
    const secrets = this.#secrets;
    for (let start = 1; start < secrets.length; start += 1 + (secrets[start - 1] as number)) {
      const length = secrets[start - 1] as number;
      if (length > SHORT) continue;
      for (let i = Math.max(0, since - length + 1); i + length <= text.length; i++) {
        let same = 0;
        while (same < length && comparedAt(secrets, start + same) === comparedAt(text, i + same)) same++;
        if (same === length && !isLetter(text, i - 1) && !isLetter(text, i + length)) return true;
      }
    }
    return false;
  }

  /**
   * True if `bytes` contain a secret in base64 or hexadecimal, also with blanks or colons between
   * bytes. Undefined if they do not, and contain control characters.
   */
  private _isEncoded(bytes: Uint8Array, since: number, isData: boolean): boolean | undefined {
    const shortest = this._shortest;
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
      if (symbol < END) {
        run++;
        continue;
      }
      if (symbol > END) hasControl = true;
      if (symbol === BREAK) {
        run++;
        continue;
      }
      if (run >= least && i > since && this._isInRun(bytes, i - run, i, isData)) return true;
      if (run === 2) {
        if (pairs++ === 0) firstPair = i - 2;
        lastPair = i;
      }
      if (run !== 2 || (byte !== BLANK && byte !== COLON) || i === length) {
        const isLong = pairs >= shortest && lastPair > since;
        if (isLong && this._isInRun(bytes, firstPair, lastPair, isData)) return true;
        pairs = 0;
      }
      run = 0;
    }
    return hasControl ? undefined : false;
  }

  /** `from` to `to`: symbols of base64, or pairs of digits. */
  private _isInRun(bytes: Uint8Array, from: number, to: number, isData: boolean): boolean {
    const found = groupsOf(bytes, from, to);
    const groups = this._isAscii ? found : found | ANYWHERE;
    for (let skip = 0; skip < 4; skip++)
      if ((groups >> skip) & 1 && this._isShown(fromBase64(bytes, from, to, skip), 0, isData)) return true;
    if (groups < ROW) return false;
    for (let skip = 0; skip < 2; skip++) {
      const text = fromDigits(bytes, from, to, skip);
      if (text.length >= this._shortest && this._isShown(text, 0, isData)) return true;
    }
    return false;
  }
}

/** Cleans consecutive lines, and hides a secret that is spread over several of them. */
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
    // Hidden text must not hide the next line too; half a secret at the end may continue there.
    if (clean !== line && this._redactor.holds(`${line} `)) this._tail = "";
    else this._tail = joined.length > TAIL ? joined.slice(joined.length - TAIL) : joined;
    return this._redactor.holds(clean, before) ? this._redactor.clean(HIDDEN) : clean;
  }
}

const comparedAt = (bytes: Uint8Array, at: number): number => COMPARED[bytes[at] as number] as number;

/** Whether the seed at `at` is one of those from `start` on. */
const repeats = (secrets: Uint8Array, start: number, at: number): boolean => {
  for (let other = start; other < at; other += SEED) {
    let same = 0;
    while (same < SEED && comparedAt(secrets, other + same) === comparedAt(secrets, at + same)) same++;
    if (same === SEED) return true;
  }
  return false;
};

const bucketOf = (one: number, other: number): number => (one * 31 + other) & (BUCKETS - 1);

const isLetter = (text: Uint8Array, at: number): boolean =>
  at >= 0 && at < text.length && (SYMBOLS[text[at] as number] as number) < 62;

/** Without control characters. */
const printable = (bytes: Uint8Array): Uint8Array => {
  let end = 0;
  while (end < bytes.length && COMPARED[bytes[end] as number] !== 0) end++;
  if (end === bytes.length) return bytes;
  const text = bytes.slice();
  for (let i = end; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (COMPARED[byte] !== 0) text[end++] = byte;
  }
  return text.subarray(0, end);
};

/** Counts changes between small letters, capitals and digits, ignoring other characters. */
const changes = (bytes: Uint8Array, from: number, to: number): number => {
  let count = -1;
  let before = OTHER;
  for (let i = from; i < to; i++) {
    const kind = kindOf(bytes[i] as number);
    if (kind !== OTHER && kind !== before) count++;
    if (kind !== OTHER) before = kind;
  }
  return count;
};

const OTHER = 3;
const kindOf = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return 0;
  if (byte >= 0x41 && byte <= 0x5a) return 1;
  return byte >= 0x61 && byte <= 0x7a ? 2 : OTHER;
};

/** Stands between two rows of digits: no UTF-8 has it. */
const BETWEEN = 0xff;
/** Bytes of the shortest row that may be a secret. */
const SHORTEST_ROW = 4;

/** All four places where a group of base64 may begin. */
const ANYWHERE = 15;
/** There is a row of hexadecimal digits that may be a secret. */
const ROW = 16;

/**
 * Which of four offsets can start a base64 group of ASCII, as bits, and ROW. Most words have none.
 */
const groupsOf = (bytes: Uint8Array, from: number, to: number): number => {
  let groups = 0;
  let count = 0;
  let row = 0;
  let first = END;
  let second = END;
  for (let i = from; i < to; i++) {
    const symbol = SYMBOLS[bytes[i] as number] as number;
    if (symbol >= END) continue;
    if (first > 7 && first < 32 && (second & 15) > 1 && (second & 15) < 8 && (symbol & 3) < 2)
      groups |= 1 << ((count - 2) & 3);
    first = second;
    second = symbol;
    count++;
    row = HEX_VALUES[symbol] === NO_DIGIT ? 0 : row + 1;
    if (row === 2 * SHORTEST_ROW) groups |= ROW;
  }
  return groups;
};

/** The bytes of each row of digits from `from` to `to`, skipping the first `skip` digits. */
const fromDigits = (bytes: Uint8Array, from: number, to: number, skip: number): Uint8Array => {
  // A row that counts takes 8 symbols and one behind it, for at most 5 bytes.
  const text = new Uint8Array((((to - from) * 5) >> 3) + 2);
  let left = skip;
  let high = -1;
  let start = 0;
  let end = 0;
  for (let i = from; i < to; i++) {
    const symbol = SYMBOLS[bytes[i] as number] as number;
    if (symbol >= END) continue;
    const digit = HEX_VALUES[symbol] as number;
    if (digit === NO_DIGIT) {
      if (end - start < SHORTEST_ROW) end = start;
      else text[end++] = BETWEEN;
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
  return printable(text.subarray(0, end));
};

/** The bytes of the symbols `from` to `to`, `skip` of which are left out. */
const fromBase64 = (bytes: Uint8Array, from: number, to: number, skip: number): Uint8Array => {
  const text = new Uint8Array(((to - from) * 3) >> 2);
  let left = skip;
  let bits = 0;
  let held = 0;
  let end = 0;
  for (let i = from; i < to; i++) {
    const symbol = SYMBOLS[bytes[i] as number] as number;
    if (symbol >= END || left-- > 0) continue;
    bits = ((bits << 6) | symbol) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    text[end++] = bits >> held;
  }
  return printable(text.subarray(0, end));
};

/** Decodes one layer of escapes of this kind (%41, \x41, \u0041, \n); others stay. */
const unescaped = (bytes: Uint8Array, kind: number): Uint8Array => {
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
    const code = digits === 0 ? -1 : numberAt(bytes, first, digits);
    if (code >= 0) {
      end = digits === 4 ? putCode(text, end, code) : put(text, end, code);
      i = first + digits - 1;
    } else if (isBackslash && i + 1 < bytes.length) {
      i++;
      text[end++] = CONTROLS.includes(String.fromCharCode(letter)) ? 0x0a : letter;
    } else text[end++] = byte;
  }
  return text.subarray(0, end);
};

/** Letters that stand for a control character behind a backslash. */
const CONTROLS = "bfnrtv";

/** The number of so many hexadecimal digits; -1 if they are none. */
const numberAt = (bytes: Uint8Array, from: number, digits: number): number => {
  let number = 0;
  for (let i = from; i < from + digits; i++) {
    const symbol = i < bytes.length ? (SYMBOLS[bytes[i] as number] as number) : END;
    const digit = HEX_VALUES[symbol] as number;
    if (digit === NO_DIGIT) return -1;
    number = number * 16 + digit;
  }
  return number;
};

const put = (text: Uint8Array, at: number, byte: number): number => {
  text[at] = byte;
  return at + 1;
};

/** UTF-8 of a UTF-16 unit; the second half of a pair completes the first. */
const putCode = (text: Uint8Array, at: number, code: number): number => {
  if (code < 0x80) return put(text, at, code);
  if (code < 0x800) return put(text, put(text, at, 0xc0 | (code >> 6)), 0x80 | (code & 0x3f));
  const before = text[at - 2] as number;
  const isSecond = code >= 0xdc00 && code < 0xe000 && at >= 3 && text[at - 3] === 0xed && before < 0xb0;
  if (!isSecond) {
    const second = put(text, put(text, at, 0xe0 | (code >> 12)), 0x80 | ((code >> 6) & 0x3f));
    return put(text, second, 0x80 | (code & 0x3f));
  }
  const high = (((text[at - 2] as number) & 0x0f) << 6) | ((text[at - 1] as number) & 0x3f);
  const whole = 0x10000 + (high << 10) + (code - 0xdc00);
  const second = put(text, put(text, at - 3, 0xf0 | (whole >> 18)), 0x80 | ((whole >> 12) & 0x3f));
  return put(text, put(text, second, 0x80 | ((whole >> 6) & 0x3f)), 0x80 | (whole & 0x3f));
};

/** Behind the quote that closes the one at `open`. */
const closingQuote = (text: string, open: number): number => {
  let end = text.indexOf('"', open + 1);
  while (end >= 0) {
    let slashes = 0;
    while (text.charAt(end - 1 - slashes) === "\\") slashes++;
    if (slashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
};
