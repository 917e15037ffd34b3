// Layout of records in sectors and in memory: four-byte words, little-endian like all supported
// machines.
//
// A record is a point or a status entry about points:
//
//    0  u32  checksum of the following words, XOR the sequence number of the sector
//    4  u16  length of the record without padding (padding bytes are 0)
//    6  u8   kind of point (see time.ts) or of status entry
//    7  u8   1 + number % 255, of this point or the next one
//    8  u48  time of a point (see time.ts)  |  number of a status entry
//   14  u16  boot epoch of a point          |  total drops, low 16 bits
//   16  the values, JSON text as UTF-8      |
//
// Checksum, byte 7 and drops are filled in when a record goes to a sector. The sequence number
// in the checksum invalidates a record that survived an interrupted erase. Byte 7 tells how many
// points are missing where records are damaged.
//
// A sector begins with a header, the state of the queue when the sector was opened:
//
//    0  magic: "MoQ" 0x0a     4  u8 format, u8 its complement
//    6  u16 boot epoch, 30 u48 tick      of the last point with ticks; boot epoch 0: none yet
//    8  u32 sequence number: 1 for the first sector, then one more for each sector opened
//   12  u48 number of the first point in this sector     18  u48 points below this are finished
//   24  u48 last time stamp that the agent generated
//   36  u32 points dropped since the queue began: full   40  u32 refused   44  u32 unreadable
//   48  u32 drops reported to the platform
//   52  u32 CRC32 of bytes 0 to 51
//   56  a record with a copy of these 56 bytes; its number is the queue's random generation.
import { invariant } from "../../invariant.js";
import { crc32 } from "../../wire/crypto/crc32.js";
import { STAMPED, TICKS } from "../time/time.js";

/** Kinds of status entries. The first four state the fate of all points below a number. */
export const DONE = 16;
export const REFUSED = 17;
export const FULL = 18;
export const UNREADABLE = 19;
/** Number of drops that were reported to the platform. */
export const REPORTED = 20;
/** A copy of the header. */
const HEADER_COPY = 21;

export const POINT_HEAD = 16;
export const STATUS_BYTES = 16;
/** Limit of a record, so that its length fits into the length field. */
export const MAX_RECORD = 65_000;
/** Size of the smallest point: its head and `{"":0}`. */
const MIN_POINT = 24;
const TAGS = 255;
const CLOSE_BRACE = 0x7d;

export const HEADER_BYTES = 56;
const COPY_AT = HEADER_BYTES + POINT_HEAD;
/** Header and its copy. */
export const OPENING_BYTES = COPY_AT + HEADER_BYTES;
const FORMAT = 2;
const CRC_AT = 52;

export const TWO_32 = 4_294_967_296;
const TWO_24 = 16_777_216;

/** A buffer that contains records. */
export interface Records {
  readonly bytes: Uint8Array;
  /** The same buffer, as words. */
  readonly words: Int32Array;
}

/** The state of the queue. A header contains all of it, and each record changes it. */
export interface LogState {
  sequence: number;
  /** The number of the next point. */
  next: number;
  /** Points below this number are delivered or dropped. */
  finishedBelow: number;
  lastStamp: number;
  epoch: number;
  tick: number;
  full: number;
  refused: number;
  unreadable: number;
  reported: number;
}

export const emptyState = (): LogState => {
  return {
    sequence: 0,
    next: 0,
    finishedBelow: 0,
    lastStamp: 0,
    epoch: 0,
    tick: 0,
    full: 0,
    refused: 0,
    unreadable: 0,
    reported: 0,
  };
};

export const dropsOf = (state: Pick<LogState, "full" | "refused" | "unreadable">): number => {
  return state.full + state.refused + state.unreadable;
};

/** Maximum number of points in `bytes` of a sector. */
export const mostPoints = (bytes: number): number => {
  return Math.floor(bytes / MIN_POINT);
};

/** The length of a record with its padding, a multiple of 4. */
export const padded = (length: number): number => {
  return (length + 3) & ~3;
};

/** Writes a complete status entry to the first words. */
export const putStatus = (words: Int32Array, state: LogState, kind: number, number: number): void => {
  words[1] = STATUS_BYTES | (kind << 16);
  words[2] = number;
  words[3] = (number / TWO_32) | (dropsOf(state) << 16);
  seal(words, 0, STATUS_BYTES, state.sequence, state.next);
};

/**
 * Fills in tags and checksums of the records `from` to `to`. The first point has the number `next`.
 */
export const seal = (words: Int32Array, from: number, to: number, sequence: number, next: number): void => {
  const end = to >> 2;
  let tag = 1 + (next % TAGS);
  for (let at = from >> 2; at < end; ) {
    const head = (words[at + 1] as number) & 0xffffff;
    words[at + 1] = head | (tag << 24);
    if (head >> 16 < DONE) tag = tag === TAGS ? 1 : tag + 1;
    const after = at + (((head & 0xffff) + 3) >> 2);
    words[at] = checksum(words, at, after) ^ sequence;
    at = after;
  }
};

/** Padded length of the intact record at `at`; 0 if there is none before `limit`. */
export const intactLength = (words: Int32Array, at: number, limit: number, sequence: number): number => {
  if (at + STATUS_BYTES > limit) return 0;
  const length = lengthOf(words, at);
  if (length < STATUS_BYTES || at + length > limit) return 0;
  const word = at >> 2;
  return words[word] === (checksum(words, word, (at + length + 3) >> 2) ^ sequence) ? padded(length) : 0;
};

/** Offset of the next intact record from `at` on; -1 if there is none before `limit`. */
export const findIntact = (words: Int32Array, at: number, limit: number, sequence: number): number => {
  for (let here = at; here + STATUS_BYTES <= limit; here += 4)
    if (intactLength(words, here, limit, sequence) > 0) return here;
  return -1;
};

/**
 * Number of the next point at the record `at`, if point `due` should begin `gap` bytes before it.
 * Undefined if that is impossible. Exact if fewer than 255 points are missing.
 */
export const numberAt = (words: Int32Array, at: number, due: number, gap: number): number | undefined => {
  const tag = (words[(at >> 2) + 1] as number) >>> 24;
  const most = mostPoints(gap);
  const missing = (tag - 1 - (due % TAGS) + TAGS) % TAGS;
  if (missing > most) return undefined;
  return due + missing + TAGS * Math.floor((most - missing) / TAGS);
};

/**
 * True if the damaged bytes at `at`, followed by erased bytes, may be a complete point. A write cut
 * short by power loss ends before the last byte. A point damaged later still has its correct length
 * or closing brace.
 */
export const mayBePoint = (bytes: Uint8Array, words: Int32Array, at: number): boolean => {
  let end = bytes.length;
  while (end > at && words[(end >> 2) - 1] === -1) end -= 4;
  if (end - at < MIN_POINT || words[(at >> 2) + 1] === -1 || kindOf(words, at) === HEADER_COPY) return false;
  let last = end - 1;
  while (bytes[last] === 0 && last > end - 4) last--;
  return bytes[last] === CLOSE_BRACE || at + padded(lengthOf(words, at)) === end;
};

/**
 * Checksum of the words after `first`, up to `end`. Each step is a shift register with a period of
 * 2^32 - 1.
 * Finds every change within one word, of any two bits, and of three bits up to 1 KiB; misses one in
 * 2^32 of the others, and a few four-bit changes that a CRC-32 finds. Fewer shifts would let bits
 * of neighbouring words cancel out. A CRC is slower because it works byte by byte.
 */
const checksum = (words: Int32Array, first: number, end: number): number => {
  let state = 0;
  for (let i = first + 1; i < end; i++) {
    state ^= words[i] as number;
    state ^= state << 7;
    state ^= (state >> 19) ^ (state >> 3);
  }
  return state;
};

export const lengthOf = (words: Int32Array, at: number): number => {
  return (words[(at >> 2) + 1] as number) & 0xffff;
};

export const kindOf = (words: Int32Array, at: number): number => {
  return ((words[(at >> 2) + 1] as number) >> 16) & 0xff;
};

export const isPoint = (words: Int32Array, at: number): boolean => {
  return kindOf(words, at) < DONE;
};

export const epochOf = (words: Int32Array, at: number): number => {
  return (words[(at >> 2) + 3] as number) >>> 16;
};

/** The time of a point or the number of a status entry. */
export const timeOf = (words: Int32Array, at: number): number => {
  const word = (at >> 2) + 2;
  return ((words[word + 1] as number) & 0xffff) * TWO_32 + ((words[word] as number) >>> 0);
};

/** Applies the changes of the intact records `from` to `to`. */
export const applyRecords = (state: LogState, words: Int32Array, from: number, to: number): void => {
  for (let at = from; at < to; ) {
    const head = words[(at >> 2) + 1] as number;
    const kind = (head >> 16) & 0xff;
    const time = timeOf(words, at);
    if (kind < DONE) state.next++;
    else applyStatus(state, kind, time);
    if (kind === STAMPED) state.lastStamp = time;
    else if (kind === TICKS) {
      state.epoch = epochOf(words, at);
      state.tick = time;
    }
    at += ((head & 0xffff) + 3) & ~3;
  }
};

/**
 * Applies a status entry, limited to the existing points. Returns the number of points it finishes.
 */
export const applyStatus = (state: LogState, kind: number, number: number): number => {
  if (kind === REPORTED) {
    state.reported = number;
    return 0;
  }
  const points = Math.max(0, Math.min(number, state.next) - state.finishedBelow);
  state.finishedBelow += points;
  invariant("no point is finished before it exists", () => state.finishedBelow <= state.next);
  if (kind === FULL) state.full += points;
  else if (kind === REFUSED) state.refused += points;
  else if (kind === UNREADABLE) state.unreadable += points;
  else if (kind !== DONE) state.finishedBelow -= points;
  return points;
};

/**
 * Corrects the drop counts when status entries before this one were damaged, using its total.
 * Missing drops count as unreadable; drops counted twice are subtracted.
 */
export const correctDrops = (state: LogState, words: Int32Array, at: number): void => {
  const kind = kindOf(words, at);
  if (kind < DONE || kind >= HEADER_COPY) return;
  const missing = ((epochOf(words, at) - dropsOf(state)) << 16) >> 16;
  if (missing < 0 && kind === FULL) state.full += missing;
  else if (missing < 0 && kind === REFUSED) state.refused += missing;
  else if (missing > 0 || kind === UNREADABLE) state.unreadable += missing;
};

/** Writes the start of a sector, `OPENING_BYTES` bytes, to the beginning of `words`. */
export const putOpening = ({ bytes, words }: Records, state: LogState, generation: number): void => {
  putHeader(bytes, state);
  bytes.copyWithin(COPY_AT, 0, HEADER_BYTES);
  const word = HEADER_BYTES >> 2;
  words[word + 1] = (POINT_HEAD + HEADER_BYTES) | (HEADER_COPY << 16);
  words[word + 2] = generation;
  words[word + 3] = 0;
  seal(words, HEADER_BYTES, OPENING_BYTES, state.sequence, state.next);
};

/** The generation of the sector in `words`; 0 if the copy of its header is damaged. */
export const generationOf = (words: Int32Array, sequence: number): number => {
  const isCopy =
    kindOf(words, HEADER_BYTES) === HEADER_COPY &&
    intactLength(words, HEADER_BYTES, OPENING_BYTES, sequence) > 0;
  return isCopy ? timeOf(words, HEADER_BYTES) : 0;
};

/** Offset of the header copy. */
export { COPY_AT };

export const putHeader = (into: Uint8Array, state: LogState): void => {
  into[0] = 0x4d;
  into[1] = 0x6f;
  into[2] = 0x51;
  into[3] = 0x0a;
  into[4] = FORMAT;
  into[5] = ~FORMAT;
  putU16(into, 6, state.epoch);
  putU32(into, 8, state.sequence);
  putU48(into, 12, state.next);
  putU48(into, 18, state.finishedBelow);
  putU48(into, 24, state.lastStamp);
  putU48(into, 30, state.tick);
  putU32(into, 36, state.full);
  putU32(into, 40, state.refused);
  putU32(into, 44, state.unreadable);
  putU32(into, 48, state.reported);
  putU32(into, CRC_AT, crc32(into, 0, CRC_AT));
};

/** True if a sector begins with a header of this format, intact or not. */
export const isHeader = (bytes: Uint8Array): boolean => {
  return (
    bytes[0] === 0x4d && bytes[1] === 0x6f && bytes[2] === 0x51 && bytes[3] === 0x0a && bytes[4] === FORMAT
  );
};

/** True if the header of this format is intact. */
export const isIntactHeader = (bytes: Uint8Array): boolean => {
  return isHeader(bytes) && getU32(bytes, CRC_AT) === crc32(bytes, 0, CRC_AT);
};

/**
 * True if nothing was written from byte `from` (word-aligned) on. Compares words, not bytes, for
 * speed.
 */
export const isBlank = (words: Int32Array, from = 0): boolean => {
  const { length } = words;
  for (let at = from >> 2; at < length; at++) if (words[at] !== -1) return false;
  return true;
};

export const sequenceOf = (header: Uint8Array): number => {
  return getU32(header, 8);
};

export const firstOf = (header: Uint8Array): number => {
  return getU48(header, 12);
};

export const readHeader = (bytes: Uint8Array, state: LogState): void => {
  state.epoch = getU16(bytes, 6);
  state.sequence = sequenceOf(bytes);
  state.next = firstOf(bytes);
  state.finishedBelow = Math.min(getU48(bytes, 18), state.next);
  state.lastStamp = getU48(bytes, 24);
  state.tick = getU48(bytes, 30);
  state.full = getU32(bytes, 36);
  state.refused = getU32(bytes, 40);
  state.unreadable = getU32(bytes, 44);
  state.reported = getU32(bytes, 48);
};

const putU16 = (bytes: Uint8Array, at: number, value: number): void => {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
};

const getU16 = (bytes: Uint8Array, at: number): number => {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
};

const putU32 = (bytes: Uint8Array, at: number, value: number): void => {
  putU16(bytes, at, value);
  putU16(bytes, at + 2, value >>> 16);
};

const getU32 = (bytes: Uint8Array, at: number): number => {
  return (getU16(bytes, at) | (getU16(bytes, at + 2) << 16)) >>> 0;
};

const putU48 = (bytes: Uint8Array, at: number, value: number): void => {
  const high = Math.floor(value / TWO_24);
  const low = value - high * TWO_24;
  putU16(bytes, at, low);
  bytes[at + 2] = low >>> 16;
  putU16(bytes, at + 3, high);
  bytes[at + 5] = high >>> 16;
};

const getU48 = (bytes: Uint8Array, at: number): number => {
  return getU16(bytes, at) + getU32(bytes, at + 2) * 65_536;
};
