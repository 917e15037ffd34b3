// A partition table as it lies in flash: what ESP-IDF's tool makes of the CSV.
import { SECURE_TABLE_OFFSET } from "../esp32/partitions.js";

export const TABLE_OFFSET = 0x8000;
/** Encryption and secure boot move the table behind a larger boot loader. */
export const TABLE_OFFSETS: readonly number[] = [TABLE_OFFSET, SECURE_TABLE_OFFSET];
/** What a table may take; what follows in its sector is none of it. */
export const TABLE_BYTES = 0xc00;
const ENTRY = 32;
const MAGIC = 0x50aa;
const ERASED = 0xff;

export interface Entry {
  readonly label: string;
  readonly type: number;
  readonly subtype: number;
  readonly offset: number;
  readonly size: number;
}

/** Its entries up to the first that is none (the checksum, or erased flash). */
export function readTable(bytes: Uint8Array): Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Entry[] = [];
  for (let at = 0; at + ENTRY <= bytes.length && view.getUint16(at, true) === MAGIC; at += ENTRY) {
    const name = bytes.subarray(at + 12, at + 28);
    const end = name.indexOf(0);
    entries.push({
      label: Buffer.from(end < 0 ? name : name.subarray(0, end)).toString("latin1"),
      type: view.getUint8(at + 2),
      subtype: view.getUint8(at + 3),
      offset: view.getUint32(at + 4, true),
      size: view.getUint32(at + 8, true),
    });
  }
  return entries;
}

/** Nothing was ever written there. */
export const isErased = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === ERASED);

/** Where the last partition ends. */
export const endOf = (entries: readonly Entry[]): number =>
  Math.max(0, ...entries.map(({ offset, size }) => offset + size));
