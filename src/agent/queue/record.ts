// Layout of the durable queue: four-byte words, little-endian like all supported machines.
//
// Everything in a sector is a record:
//
//    0  u32  CRC-32 of the rest and its padding, XOR the sequence number of the sector
//    4  u16  length of the record without padding (padding bytes are 0)
//    6  u8   kind
//    7  u8   1 + number % 255, of this point or the next one
//    8  u48  value: milliseconds of a point; number of a mark; id of the queue
//   14  u16  epoch of a point
//   16  payload: JSON text of a point as UTF-8, or the state of the queue
//
// The sequence number in the CRC invalidates a record that survived an interrupted erase. Byte
// 7 tells how many points are missing where records are damaged.
//
// A sector begins with the whole state of the queue, twice. Then come points, marks ("all points
// below this number are delivered"), and the state again when more changed than that.

import type { Crc } from "../../port.js";

/** Kinds of points: with milliseconds of an epoch, or with the application's time stamp. */
export const POINT = 1;
export const GIVEN = 2;
/** All points below a number are delivered. */
export const DONE = 16;
/** The state of the queue; each format has its own kind, up to 63. */
const STATE = 36;
const FIRST_FORMAT = 32;
const LAST_FORMAT = 63;

/** Bytes before the payload. */
export const POINT_HEAD = 16;
/** Of a mark, the smallest record. */
export const MARK_BYTES = 16;
/** Limit of a record, so that its length fits into the length field. */
export const MAX_RECORD = 65_000;
/** Size of the smallest point: its head and `{"":0}`. */
const MIN_POINT = 24;
const TAGS = 255;
const LAST_EPOCH = 65_535;
const CLOSE_BRACE = 0x7d;
export const TWO_32 = 4_294_967_296;

/** A buffer that contains records. */
export interface Records {
  readonly bytes: Uint8Array;
  /** The same buffer, as words. */
  readonly words: Int32Array;
  /** Their checksum. */
  readonly crc: Crc;
}

/** `bytes`, which begin at a word of their buffer, as records. */
export const recordsIn = (bytes: Uint8Array, crc: Crc): Records => {
  return { bytes, words: new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2), crc };
};

export type DropReason = "full" | "refused" | "unreadable";

/** Points dropped, by reason. */
export type Drops = { [reason in DropReason]: number };

/** The state of the queue. */
export interface QueueState extends Drops {
  /** Number of the newest sector, from 1. */
  sequence: number;
  /** The number that the next point on flash will have. */
  stored: number;
  /** Points below this number are delivered or dropped. */
  finished: number;
  /** Epoch of the latest point, 1 to 65,535; 0: none yet. */
  epoch: number;
  /** Milliseconds that the next point of this epoch may have. */
  tick: number;
  /** When the epoch began, ms since 1970; 0: not known yet. */
  start: number;
  /** Milliseconds below this belong to runs that never knew the time. */
  exactFrom: number;
  /** All time stamps of the epoch are above this one, ms since 1970. */
  floor: number;
  /** Drops that were reported to the platform. */
  reported: number;
}

/** Order of the state in its record. The first is needed for the checksum. */
const WORDS = ["sequence", "full", "refused", "unreadable", "reported", "epoch"] as const;
const DOUBLE_WORDS = ["stored", "finished", "tick", "start", "exactFrom", "floor"] as const;
export const STATE_BYTES = POINT_HEAD + 4 * WORDS.length + 8 * DOUBLE_WORDS.length;
/** The part that ends with the sequence number. */
export const FRONT_BYTES = POINT_HEAD + 4;
/** State and its copy at the start of a sector. */
export const OPENING_BYTES = 2 * STATE_BYTES;

export const emptyState = (): QueueState => {
  return {
    sequence: 0,
    stored: 0,
    finished: 0,
    epoch: 0,
    tick: 0,
    start: 0,
    exactFrom: 0,
    floor: 0,
    full: 0,
    refused: 0,
    unreadable: 0,
    reported: 0,
  };
};

export const dropsOf = ({ full, refused, unreadable }: Drops): number => full + refused + unreadable;

/** Maximum number of points in `bytes` of a sector. */
export const mostPoints = (bytes: number): number => Math.floor(bytes / MIN_POINT);

/** The length of a record with its padding, a multiple of 4. */
export const padded = (length: number): number => (length + 3) & ~3;

export const lengthOf = (words: Int32Array, at: number): number => (words[(at >> 2) + 1] as number) & 0xffff;

/** The length of the record at `at` with its padding. */
export const sizeOf = (words: Int32Array, at: number): number =>
  (((words[(at >> 2) + 1] as number) & 0xffff) + 3) & ~3;

export const kindOf = (words: Int32Array, at: number): number =>
  ((words[(at >> 2) + 1] as number) >> 16) & 0xff;

export const isPoint = (words: Int32Array, at: number): boolean => kindOf(words, at) < DONE;

export const readValue = (words: Int32Array, at: number): number => {
  const word = (at >> 2) + 2;
  return ((words[word + 1] as number) & 0xffff) * TWO_32 + ((words[word] as number) >>> 0);
};

/** The epoch of a point. */
export const epochOf = (words: Int32Array, at: number): number => (words[(at >> 2) + 3] as number) >>> 16;

const get48 = (words: Int32Array, word: number): number => readValue(words, (word - 2) << 2);

const put48 = (words: Int32Array, word: number, value: number): void => {
  words[word] = value;
  words[word + 1] = value / TWO_32;
};

/** Writes the head of a record, `length` bytes, without its checksum. */
export const putHead = (
  words: Int32Array,
  at: number,
  kind: number,
  length: number,
  value: number,
  high: number,
): void => {
  const word = at >> 2;
  words[word + 1] = length | (kind << 16);
  words[word + 2] = value;
  words[word + 3] = (value / TWO_32) | (high << 16);
};

/** Writes to the first words that all points below the state's `finished` are delivered. */
export const putMark = (records: Records, state: QueueState): void => {
  putHead(records.words, 0, DONE, MARK_BYTES, state.finished, 0);
  seal(records, 0, MARK_BYTES, state);
};

/** Writes the state to the first words. `id`: of the queue. */
export const putState = (records: Records, state: QueueState, id: number): void => {
  const { words } = records;
  putHead(words, 0, STATE, STATE_BYTES, id, 0);
  let word = POINT_HEAD >> 2;
  for (const name of WORDS) words[word++] = state[name];
  for (const name of DOUBLE_WORDS) {
    put48(words, word, state[name]);
    word += 2;
  }
  seal(records, 0, STATE_BYTES, state);
};

/** True if the words at `at` begin a state of this format, intact or not. */
export const isState = (words: Int32Array, at = 0): boolean =>
  ((words[(at >> 2) + 1] as number) & 0xffffff) === (STATE_BYTES | (STATE << 16));

/** True if the first words begin the state of another version's queue. */
export const isOtherState = (words: Int32Array): boolean => {
  const kind = kindOf(words, 0);
  return kind >= FIRST_FORMAT && kind <= LAST_FORMAT && !isState(words);
};

/** Number of the sector that begins with the state in the first words. */
export const sequenceOf = (words: Int32Array): number => (words[POINT_HEAD >> 2] as number) >>> 0;

/** True if the first words are an intact state. */
export const isIntactState = (records: Records): boolean =>
  isState(records.words) && intactLength(records, 0, STATE_BYTES, sequenceOf(records.words)) > 0;

/** Number of the first point behind the state at `at`. */
export const nextIn = (words: Int32Array, at = 0): number =>
  get48(words, ((at + POINT_HEAD) >> 2) + WORDS.length);

/** Replaces `state` by the one at `at`, and returns the queue's id. */
export const readState = (state: QueueState, words: Int32Array, at = 0): number => {
  let word = (at + POINT_HEAD) >> 2;
  for (const name of WORDS) state[name] = (words[word++] as number) >>> 0;
  for (const name of DOUBLE_WORDS) {
    state[name] = get48(words, word);
    word += 2;
  }
  return readValue(words, at);
};

/** Fills in tags and checksums of the records `from` to `to`, whose first point is the next one. */
export const seal = ({ bytes, words, crc }: Records, from: number, to: number, state: QueueState): void => {
  let tag = tagOf(state.stored);
  for (let at = from; at < to; ) {
    const word = at >> 2;
    const head = (words[word + 1] as number) & 0xffffff;
    words[word + 1] = head | (tag << 24);
    if (head >> 16 < DONE) tag = tag === TAGS ? 1 : tag + 1;
    const after = at + (((head & 0xffff) + 3) & ~3);
    words[word] = crc(bytes, at + 4, after) ^ state.sequence;
    at = after;
  }
};

/** Padded length of the intact record at `at`; 0 if there is none before `limit`. */
export const intactLength = (records: Records, at: number, limit: number, sequence: number): number => {
  if (at + MARK_BYTES > limit) return 0;
  const { bytes, words } = records;
  const length = lengthOf(words, at);
  if (length < MARK_BYTES || at + length > limit) return 0;
  const size = padded(length);
  return words[at >> 2] === (records.crc(bytes, at + 4, at + size) ^ sequence) ? size : 0;
};

/** At least so many points are missing before the intact record at `at`, if point `due` was due. */
export const missingBefore = (words: Int32Array, at: number, due: number): number =>
  (((words[(at >> 2) + 1] as number) >>> 24) - 1 - (due % TAGS) + TAGS) % TAGS;

/**
 * True if the damaged bytes from `head` to `end` of a sector, followed by erased bytes, may be a
 * complete point. A write cut short by power loss ends before the last byte. A point damaged later
 * still has its correct length or closing brace. `last`: the word before `end`.
 */
export const mayBePoint = (head: Int32Array, last: number, at: number, end: number): boolean => {
  if (end - at < MIN_POINT || head[1] === -1) return false;
  let byte = last;
  while (byte >>> 24 === 0 && byte !== 0) byte <<= 8;
  return byte >>> 24 === CLOSE_BRACE || at + sizeOf(head, 0) === end;
};

/** Applies the intact record at `at`. */
const applyRecord = (state: QueueState, words: Int32Array, at: number): void => {
  const kind = kindOf(words, at);
  if (kind === DONE) finish(state, readValue(words, at));
  else if (kind === STATE) readState(state, words, at);
  else if (kind < DONE) state.stored++;
  if (kind !== POINT) return;
  enterEpoch(state, epochOf(words, at));
  state.tick = Math.max(state.tick, readValue(words, at) + 1);
};

/**
 * Applies the intact records from 0 to `limit`, and returns their length.
 *
 * To verify each point would take most of a short wake. In a row of points of one epoch, only the
 * last one's milliseconds count, so the others are verified later, when they are read to be sent.
 */
export const applyIntact = (state: QueueState, records: Records, limit: number): number => {
  const { words } = records;
  const { sequence } = state;
  let end = 0;
  let skips = true;
  for (;;) {
    const { epoch } = state;
    let points = 0;
    let last = end;
    let tag = tagOf(state.stored);
    for (let at = end; skips && at + MIN_POINT <= limit; points++) {
      const word = at >> 2;
      const head = words[word + 1] as number;
      const isNext = head >>> 16 === (POINT | (tag << 8));
      if (!isNext || (words[word + 3] as number) >>> 16 !== epoch) break;
      const length = head & 0xffff;
      // A damaged length may cover the mark behind the point.
      const brace = at + length - 1;
      if ((((words[brace >> 2] as number) >>> ((brace & 3) * 8)) & 0xff) !== CLOSE_BRACE) break;
      tag = tag === TAGS ? 1 : tag + 1;
      last = at;
      at += (length + 3) & ~3 || limit;
    }
    let length = points > 1 ? intactLength(records, last, limit, sequence) : 0;
    if (length > 0) {
      state.stored += points - 1;
      end = last;
    } else {
      skips = points <= 1;
      length = intactLength(records, end, limit, sequence);
      if (length === 0) return end;
    }
    applyRecord(state, words, end);
    end += length;
  }
};

const tagOf = (number: number): number => 1 + (number % TAGS);

/** The epoch after `epoch`; numbers start again after 65,535. */
export const epochAfter = (epoch: number): number => (epoch % LAST_EPOCH) + 1;

/** True if epoch `one` began after `other`. Epoch 0 is before all others. */
export const isAfter = (one: number, other: number): boolean =>
  one !== other && (other === 0 || ((one - other) & 0xffff) - 1 < 0x7fff);

/** The time stamps of a new epoch are above all earlier ones. */
export const enterEpoch = (state: QueueState, epoch: number): void => {
  if (epoch === state.epoch) return;
  state.floor = lastStampOf(state);
  Object.assign(state, { epoch, tick: 0, start: 0, exactFrom: 0 });
};

/** The last time stamp that a point has or may get by this state. */
export const lastStampOf = ({ floor, start, tick }: QueueState): number =>
  start === 0 ? floor : Math.max(floor, start + tick - 1);

/**
 * The points below `number` are delivered or, for a `reason`, dropped. Returns how many of them
 * were waiting.
 */
export const finish = (state: QueueState, number: number, reason?: DropReason): number => {
  const points = Math.max(0, number - state.finished);
  state.finished += points;
  // These were delivered from memory, and never written.
  if (state.stored < state.finished) state.stored = state.finished;
  if (reason) state[reason] += points;
  return points;
};
