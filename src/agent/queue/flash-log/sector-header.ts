// The first bytes of each sector of the durable queue: which sector of the sequence it is, and all that was known when it was opened.
//
//    0  "MoQ" 0x0a, the magic      4  u8 format, u8 its complement (so that a torn header is not taken for another format)
//    6  u16 boot epoch, 30 u48 tick       of the last point with ticks; boot epoch 0: none yet
//    8  u32 sequence number, from 1, one up with each sector opened
//   12  u48 number of the first point in this sector      18  u48 points below this number are dealt with
//   24  u48 last time stamp that the agent gave
//   36  u32 points dropped since the queue began: full    40  u32 refused    44  u32 unreadable    48  u32 reported to the platform
//   52  u32 CRC32 of what is above
import { crc32 } from "../../../wire/crypto/crc32.js";
import { STAMPED, TICKS } from "../../time/time.js";
import { DONE, epochOf, FULL, REFUSED, REPORTED, timeOf, UNREADABLE } from "../log-entry.js";

export const HEADER_BYTES = 56;
const FORMAT = 2;
const CRC_AT = 52;
const TWO_24 = 16_777_216;

/** What the sectors know of their points. A header holds it whole, each record changes it. */
export interface SectorState {
  sequence: number;
  /** The number of the next point. */
  next: number;
  /** Points below this number are dealt with. */
  confirmed: number;
  lastStamp: number;
  epoch: number;
  tick: number;
  full: number;
  refused: number;
  unreadable: number;
  reported: number;
}

export const emptyState = (): SectorState => {
  return {
    sequence: 0,
    next: 0,
    confirmed: 0,
    lastStamp: 0,
    epoch: 0,
    tick: 0,
    full: 0,
    refused: 0,
    unreadable: 0,
    reported: 0,
  };
};

export const putHeader = (into: Uint8Array, state: SectorState): void => {
  into[0] = 0x4d;
  into[1] = 0x6f;
  into[2] = 0x51;
  into[3] = 0x0a;
  into[4] = FORMAT;
  into[5] = ~FORMAT;
  putU16(into, 6, state.epoch);
  putU32(into, 8, state.sequence);
  putU48(into, 12, state.next);
  putU48(into, 18, state.confirmed);
  putU48(into, 24, state.lastStamp);
  putU48(into, 30, state.tick);
  putU32(into, 36, state.full);
  putU32(into, 40, state.refused);
  putU32(into, 44, state.unreadable);
  putU32(into, 48, state.reported);
  putU32(into, CRC_AT, crc32(into, 0, CRC_AT));
};

/** What the first bytes of a sector are: a header of this format or of another, or none (never used, or cut while it was written). */
export const headerKind = (bytes: Uint8Array): "own" | "foreign" | "none" => {
  const magic = bytes[0] === 0x4d && bytes[1] === 0x6f && bytes[2] === 0x51 && bytes[3] === 0x0a;
  if (!magic || (bytes[4] as number) + (bytes[5] as number) !== 0xff) return "none";
  return bytes[4] === FORMAT ? "own" : "foreign";
};

/** Of a header of this format: it is whole. */
export const isSound = (bytes: Uint8Array): boolean => {
  return getU32(bytes, CRC_AT) === crc32(bytes, 0, CRC_AT);
};

/** Nothing was written from byte `from` on, a whole number of words. A word takes a board no longer than a byte would. */
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

export const readHeader = (bytes: Uint8Array, state: SectorState): void => {
  state.epoch = getU16(bytes, 6);
  state.sequence = sequenceOf(bytes);
  state.next = firstOf(bytes);
  state.confirmed = Math.min(getU48(bytes, 18), state.next);
  state.lastStamp = getU48(bytes, 24);
  state.tick = getU48(bytes, 30);
  state.full = getU32(bytes, 36);
  state.refused = getU32(bytes, 40);
  state.unreadable = getU32(bytes, 44);
  state.reported = getU32(bytes, 48);
};

/** What the records `from` to `to` change. */
export const applyRecords = (state: SectorState, words: Int32Array, from: number, to: number): void => {
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

/** What a status entry changes; returns how many points it deals with. No more than there are, whatever flash says. */
export const applyStatus = (state: SectorState, kind: number, number: number): number => {
  if (kind === REPORTED) {
    state.reported = number;
    return 0;
  }
  const points = Math.max(0, Math.min(number, state.next) - state.confirmed);
  state.confirmed += points;
  if (kind === FULL) state.full += points;
  else if (kind === REFUSED) state.refused += points;
  else if (kind === UNREADABLE) state.unreadable += points;
  else if (kind !== DONE) state.confirmed -= points;
  return points;
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
