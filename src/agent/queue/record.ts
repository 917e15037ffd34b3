// Layout of the durable queue: four-byte words, little-endian like all supported machines.
//
// Everything in a sector is a record:
//
//    0  u32  checksum of the following words, XOR the sequence number of the sector
//    4  u16  length of the record without padding (padding bytes are 0)
//    6  u8   kind
//    7  u8   1 + number % 255, of this point or the next one; of a header: the format
//    8  u48  value: milliseconds of a point, number of a status entry, start of an epoch
//   14  u16  epoch of a point | total drops of a status entry, low 16 bits
//   16  payload: JSON text of a point as UTF-8, or words
//
// The sequence number in the checksum invalidates a record that survived an interrupted erase. Byte
// 7 tells how many points are missing where records are damaged.
//
// A sector begins with its header, twice: the whole state of the queue when it was opened. Then
// come points and what changed the state: status entries ("all points below this number are
// delivered") and times ("epoch 7 began at this time").

/** Kinds of points: with milliseconds of an epoch, or with the application's time stamp. */
export const POINT = 1;
export const GIVEN = 2;
/** Kinds of status entries. The first four state the fate of all points below a number. */
export const DONE = 16;
export const REFUSED = 17;
export const FULL = 18;
export const UNREADABLE = 19;
/** Number of drops that were reported to the platform. */
export const REPORTED = 20;
/** When an epoch began: an estimate, which a later entry corrects. */
export const TIME = 21;
const HEADER = 22;
const FORMAT = 3;

/** Bytes before the payload. */
export const POINT_HEAD = 16;
export const STATUS_BYTES = 16;
export const TIME_BYTES = 32;
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
}

/** The state of the queue. A header contains all of it, and each record changes it. */
export interface QueueState {
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
  full: number;
  refused: number;
  unreadable: number;
  reported: number;
}

/** Order of the state in a header. The first is needed for the checksum. */
const WORDS = ["sequence", "full", "refused", "unreadable", "reported", "epoch"] as const;
const DOUBLE_WORDS = ["stored", "finished", "tick", "start", "exactFrom", "floor"] as const;
const HEADER_LENGTH = POINT_HEAD + 4 * WORDS.length + 8 * DOUBLE_WORDS.length;
export const HEADER_BYTES = HEADER_LENGTH;
/** Bytes of a header that end with the sequence number. */
export const FRONT_BYTES = POINT_HEAD + 4;
/** Header and its copy. */
export const OPENING_BYTES = 2 * HEADER_BYTES;

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

export const dropsOf = (state: Pick<QueueState, "full" | "refused" | "unreadable">): number => {
  return state.full + state.refused + state.unreadable;
};

/** Maximum number of points in `bytes` of a sector. */
export const mostPoints = (bytes: number): number => Math.floor(bytes / MIN_POINT);

/** The length of a record with its padding, a multiple of 4. */
export const padded = (length: number): number => (length + 3) & ~3;

export const lengthOf = (words: Int32Array, at: number): number => (words[(at >> 2) + 1] as number) & 0xffff;

export const kindOf = (words: Int32Array, at: number): number =>
  ((words[(at >> 2) + 1] as number) >> 16) & 0xff;

export const isPoint = (words: Int32Array, at: number): boolean => kindOf(words, at) < DONE;

export const readValue = (words: Int32Array, at: number): number => get48(words, (at >> 2) + 2);

/** The epoch of a point. */
export const epochOf = (words: Int32Array, at: number): number => (words[(at >> 2) + 3] as number) >>> 16;

/** Of a TIME entry: milliseconds below this belong to runs that never knew the time. */
export const exactFromOf = (words: Int32Array, at: number): number => get48(words, (at >> 2) + 4);

const get48 = (words: Int32Array, word: number): number =>
  ((words[word + 1] as number) & 0xffff) * TWO_32 + ((words[word] as number) >>> 0);

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

/**
 * Writes a complete status entry to the first words. `drops`: all that the queue's records count.
 */
export const putStatus = (
  words: Int32Array,
  state: QueueState,
  kind: number,
  number: number,
  drops: number,
): void => {
  putHead(words, 0, kind, STATUS_BYTES, number, drops);
  seal(words, 0, STATUS_BYTES, state);
};

/** Writes the time of the state's epoch to the first words. */
export const putTime = (words: Int32Array, state: QueueState): void => {
  putHead(words, 0, TIME, TIME_BYTES, state.start, state.epoch);
  put48(words, 4, state.exactFrom);
  put48(words, 6, state.floor);
  seal(words, 0, TIME_BYTES, state);
};

/** Writes the start of a sector, `OPENING_BYTES` bytes, to the first words. `id`: of the queue. */
export const putOpening = (words: Int32Array, state: QueueState, id: number): void => {
  putHead(words, 0, HEADER, HEADER_LENGTH, id, 0);
  words[1] = (words[1] as number) | (FORMAT << 24);
  let word = POINT_HEAD >> 2;
  for (const name of WORDS) words[word++] = state[name];
  for (const name of DOUBLE_WORDS) {
    put48(words, word, state[name]);
    word += 2;
  }
  words[0] = checksum(words, 0, word) ^ state.sequence;
  words.copyWithin(word, 0, word);
};

/** True if the words at `at` begin a header of this format, intact or not. */
export const isHeader = (words: Int32Array, at = 0): boolean =>
  words[(at >> 2) + 1] === (HEADER_LENGTH | (HEADER << 16) | (FORMAT << 24));

/** True if the first words begin a header of another version. */
export const isOtherHeader = (words: Int32Array): boolean => kindOf(words, 0) === HEADER && !isHeader(words);

export const sequenceOf = (header: Int32Array): number => (header[POINT_HEAD >> 2] as number) >>> 0;

/** True if the first words are an intact header. */
export const isIntactHeader = (header: Int32Array): boolean =>
  isHeader(header) && header[0] === (checksum(header, 0, HEADER_LENGTH >> 2) ^ sequenceOf(header));

/** Number of the first point in a header's sector. */
export const firstOf = (header: Int32Array): number => get48(header, (POINT_HEAD >> 2) + WORDS.length);

/** Replaces `state` by the header's, and returns the queue's id. */
export const readHeader = (header: Int32Array, state: QueueState): number => {
  let word = POINT_HEAD >> 2;
  for (const name of WORDS) state[name] = (header[word++] as number) >>> 0;
  for (const name of DOUBLE_WORDS) {
    state[name] = get48(header, word);
    word += 2;
  }
  return readValue(header, 0);
};

/** Fills in tags and checksums of the records `from` to `to`, whose first point is the next one. */
export const seal = (words: Int32Array, from: number, to: number, state: QueueState): void => {
  const end = to >> 2;
  let tag = tagOf(state.stored);
  for (let at = from >> 2; at < end; ) {
    const head = (words[at + 1] as number) & 0xffffff;
    words[at + 1] = head | (tag << 24);
    if (head >> 16 < DONE) tag = tag === TAGS ? 1 : tag + 1;
    const after = at + (((head & 0xffff) + 3) >> 2);
    words[at] = checksum(words, at, after) ^ state.sequence;
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
  return byte >>> 24 === CLOSE_BRACE || at + padded(lengthOf(head, 0)) === end;
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

/** Applies the changes of the intact records `from` to `to`. */
export const applyRecords = (state: QueueState, words: Int32Array, from: number, to: number): void => {
  for (let at = from; at < to; at += padded(lengthOf(words, at))) {
    const kind = kindOf(words, at);
    const value = readValue(words, at);
    if (kind < DONE) state.stored++;
    if (kind === POINT) {
      enterEpoch(state, epochOf(words, at));
      state.tick = Math.max(state.tick, value + 1);
    } else if (kind === TIME) {
      enterEpoch(state, epochOf(words, at));
      state.start = value;
      state.exactFrom = exactFromOf(words, at);
      state.floor = get48(words, (at >> 2) + 6);
    } else if (kind >= DONE) applyStatus(state, kind, value);
  }
};

/**
 * Applies the intact records from 0 to `limit`, and returns their length.
 *
 * To verify each point would take most of a short wake. In a row of points of one epoch, only the
 * last one's milliseconds count, so the others are verified later, when they are read to be sent.
 */
export const applyIntact = (state: QueueState, words: Int32Array, limit: number): number => {
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
      // A damaged length may cover the status entry behind the point.
      const brace = at + length - 1;
      if ((((words[brace >> 2] as number) >>> ((brace & 3) * 8)) & 0xff) !== CLOSE_BRACE) break;
      tag = tag === TAGS ? 1 : tag + 1;
      last = at;
      at += (length + 3) & ~3 || limit;
    }
    let length = points > 1 ? intactLength(words, last, limit, sequence) : 0;
    if (length > 0) {
      state.stored += points - 1;
      end = last;
    } else {
      skips = points <= 1;
      length = intactLength(words, end, limit, sequence);
      if (length === 0) return end;
    }
    applyRecords(state, words, end, end + length);
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

/** Applies a status entry. Returns the number of points that it finishes. */
export const applyStatus = (state: QueueState, kind: number, number: number): number => {
  if (kind === REPORTED) {
    state.reported = number;
    return 0;
  }
  if (kind > UNREADABLE) return 0;
  const points = Math.max(0, number - state.finished);
  state.finished += points;
  // These were delivered from memory, and never written.
  if (state.stored < state.finished) state.stored = state.finished;
  if (kind === FULL) state.full += points;
  else if (kind === REFUSED) state.refused += points;
  else if (kind === UNREADABLE) state.unreadable += points;
  return points;
};

/**
 * Corrects the drop counts when entries before this one were damaged, using its total. Missing
 * drops count as unreadable; drops counted twice are subtracted.
 */
export const correctDrops = (state: QueueState, words: Int32Array, at: number): void => {
  const kind = kindOf(words, at);
  if (kind < DONE || kind > REPORTED) return;
  const missing = ((epochOf(words, at) - dropsOf(state)) << 16) >> 16;
  if (missing < 0 && kind === FULL) state.full += missing;
  else if (missing < 0 && kind === REFUSED) state.refused += missing;
  else if (missing > 0 || kind === UNREADABLE) state.unreadable += missing;
};
