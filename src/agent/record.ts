// How a point, or a mark about points, lies in the RAM ring and in the sectors. Numbers are little-endian.
//
//    0  u32  CRC32 of all that follows, exclusive-or the sector's sequence number (filled in when it goes to a sector)
//    4  u16  length of the whole record
//    6  u8   kind
//    7  u16  era, u48 time     of a point (see time.ts)     |  u48 number  of a mark
//   15  the values, JSON text as UTF-8                      |
//
// The sequence number in the CRC keeps a record that survived a cut erase from being taken for one of the new sector.
import { crc32 } from "../wire/crc32.js";

/** Kinds of points: stamped by the agent, by the application, or with ticks of an era whose start was not known. */
export const STAMPED = 1;
export const GIVEN = 2;
export const TICKS = 3;
/** Kinds of marks. The first four say what became of all points below a number; the last how many drops the platform was told of. */
export const DONE = 16;
export const REFUSED = 17;
export const FULL = 18;
export const UNREADABLE = 19;
export const TOLD = 20;

export const POINT_HEAD = 15;
export const MARK_BYTES = 13;
/** More than a record's length field holds is never one record. */
export const MAX_RECORD = 65_000;

export const LENGTH_AT = 4;
const KIND_AT = 6;
const ERA_AT = 7;
const TIME_AT = 9;
const NUMBER_AT = 7;
const TWO_24 = 16_777_216;
const TWO_32 = 4_294_967_296;

export function putU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
}

export function getU16(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
}

export function putU32(bytes: Uint8Array, at: number, value: number): void {
  putU16(bytes, at, value);
  putU16(bytes, at + 2, value >>> 16);
}

export function getU32(bytes: Uint8Array, at: number): number {
  return (getU16(bytes, at) | (getU16(bytes, at + 2) << 16)) >>> 0;
}

// In two halves of 24 bits and without a call: of each point's time one is written and one read.
export function putU48(bytes: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / TWO_24);
  const low = value - high * TWO_24;
  bytes[at] = low;
  bytes[at + 1] = low >>> 8;
  bytes[at + 2] = low >>> 16;
  bytes[at + 3] = high;
  bytes[at + 4] = high >>> 8;
  bytes[at + 5] = high >>> 16;
}

export function getU48(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
  const high =
    (bytes[at + 3] as number) | ((bytes[at + 4] as number) << 8) | ((bytes[at + 5] as number) << 16);
  return high * TWO_24 + low;
}

/** Writes all of a point's record, `length` bytes, but the CRC. `view` is of the same bytes: on XS a call of it costs as much as two of them. */
export function putPoint(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  kind: number,
  era: number,
  time: number,
  text: Uint8Array,
  length: number,
): void {
  view.setUint32(at + LENGTH_AT, length | (kind << 16) | (era << 24), true);
  bytes[at + ERA_AT + 1] = era >>> 8;
  view.setUint32(at + TIME_AT, time, true);
  view.setUint16(at + TIME_AT + 4, time / TWO_32, true);
  bytes.set(text, at + POINT_HEAD);
}

/** Writes a whole mark. */
export function putMark(bytes: Uint8Array, sequence: number, kind: number, number: number): void {
  putU16(bytes, LENGTH_AT, MARK_BYTES);
  bytes[KIND_AT] = kind;
  putU48(bytes, NUMBER_AT, number);
  seal(bytes, 0, sequence);
}

/** Fills in the CRC of the record at `at`. */
export function seal(bytes: Uint8Array, at: number, sequence: number): void {
  const end = at + lengthOf(bytes, at);
  putU32(bytes, at, crc32(bytes, at + LENGTH_AT, end) ^ sequence);
}

/** The length of the intact record at `at`, or 0 if there is none before `limit`. */
export function soundLength(bytes: Uint8Array, at: number, limit: number, sequence: number): number {
  if (at + MARK_BYTES > limit) return 0;
  const length = lengthOf(bytes, at);
  if (length < MARK_BYTES || at + length > limit) return 0;
  const crc = (crc32(bytes, at + LENGTH_AT, at + length) ^ sequence) >>> 0;
  return crc === getU32(bytes, at) ? length : 0;
}

export function lengthOf(bytes: Uint8Array, at: number): number {
  return getU16(bytes, at + LENGTH_AT);
}

export function kindOf(bytes: Uint8Array, at: number): number {
  return bytes[at + KIND_AT] as number;
}

export function isPoint(bytes: Uint8Array, at: number): boolean {
  return kindOf(bytes, at) < DONE;
}

export function eraOf(bytes: Uint8Array, at: number): number {
  return getU16(bytes, at + ERA_AT);
}

export function timeOf(bytes: Uint8Array, at: number): number {
  return getU48(bytes, at + TIME_AT);
}

/** `timeOf` by a view. */
export function viewedTime(view: DataView, at: number): number {
  return view.getUint16(at + TIME_AT + 4, true) * TWO_32 + view.getUint32(at + TIME_AT, true);
}

export function numberOf(bytes: Uint8Array, at: number): number {
  return getU48(bytes, at + NUMBER_AT);
}
