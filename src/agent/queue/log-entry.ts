// How a point, or a status entry about points, lies in the RAM ring and in the sectors: in words of four bytes, little-endian, as every machine of this agent has
// them. A word is read and written by one step of the engine, a byte by as many.
//
//    0  u32  checksum of all words that follow, exclusive-or the sector's sequence number (filled in when it goes to a sector)
//    4  u16  length of the record, without the bytes that fill its last word (they are 0)
//    6  u8   kind, of a point (see time.ts) or of a status entry
//    8  u48  time of a point (see time.ts)  |  number of a status entry
//   14  u16  boot epoch of a point          |  0
//   16  the values, JSON text as UTF-8      |
//
// The sequence number in the checksum keeps a record that survived an interrupted erase from being taken for one of the new sector.

/** Kinds of status entries. The first four say what became of all points below a number; the last how many drops were reported to the platform. */
export const DONE = 16;
export const REFUSED = 17;
export const FULL = 18;
export const UNREADABLE = 19;
export const REPORTED = 20;

export const POINT_HEAD = 16;
export const STATUS_BYTES = 16;
/** More than a record's length field holds is never one record. */
export const MAX_RECORD = 65_000;

export const TWO_32 = 4_294_967_296;

/** Where records lie. */
export interface Records {
  readonly bytes: Uint8Array;
  /** The same bytes. */
  readonly words: Int32Array;
}

/** A record of `length` bytes with those that fill its last word. */
export const whole = (length: number): number => {
  return (length + 3) & ~3;
};

/** Writes a whole status entry to the first words. */
export const putStatus = (words: Int32Array, sequence: number, kind: number, number: number): void => {
  words[1] = STATUS_BYTES | (kind << 16);
  words[2] = number;
  words[3] = number / TWO_32;
  seal(words, 0, STATUS_BYTES, sequence);
};

/** Fills in the checksums of the records `from` to `to`. */
export const seal = (words: Int32Array, from: number, to: number, sequence: number): void => {
  const end = to >> 2;
  for (let at = from >> 2; at < end; ) {
    const next = at + ((((words[at + 1] as number) & 0xffff) + 3) >> 2);
    words[at] = sum(words, at, next) ^ sequence;
    at = next;
  }
};

/** The length of the intact record at `at`, its last word filled, or 0 if there is none before `limit`. */
export const soundLength = (words: Int32Array, at: number, limit: number, sequence: number): number => {
  if (at + STATUS_BYTES > limit) return 0;
  const length = lengthOf(words, at);
  if (length < STATUS_BYTES || at + length > limit) return 0;
  const word = at >> 2;
  return words[word] === (sum(words, word, (at + length + 3) >> 2) ^ sequence) ? whole(length) : 0;
};

/**
 * The words behind the first, up to `end`, each moved on by a step of a shift register that comes to all 2^32 - 1 states but zero. So a change within
 * one word is always found, of any two bits, and of three up to 1 KiB; all else but one in 2^32. Of four bits a few
 * that a CRC of 32 bits would find slip through (some hundred of 3 * 10^9 in 16 words). Fewer shifts would let one bit of a word and
 * two of the next cancel each other. A CRC takes longer, as it goes by bytes.
 */
const sum = (words: Int32Array, first: number, end: number): number => {
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

/** A point's time, or a status entry's number. */
export const timeOf = (words: Int32Array, at: number): number => {
  const word = (at >> 2) + 2;
  return ((words[word + 1] as number) & 0xffff) * TWO_32 + ((words[word] as number) >>> 0);
};
