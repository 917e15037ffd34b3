// CRC-32 (IEEE 802.3, reflected, as in zip), for stored records.
import type { Crc, Host } from "../../port.js";

const buildTable = (): Int32Array => {
  const table = new Int32Array(256);
  for (let i = 0; i < 256; i++) {
    let rest = i;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    table[i] = rest;
  }
  return table;
};

const TABLE = buildTable();

/**
 * CRC of the bytes `from` to `to` (exclusive), 0 to 2^32 - 1. `seed`: CRC of the preceding bytes.
 */
export const crc32 = (bytes: Uint8Array, from = 0, to = bytes.length, seed = 0): number => {
  let rest = ~seed;
  for (let i = from; i < to; i++)
    rest = (rest >>> 8) ^ (TABLE[(rest ^ (bytes[i] as number)) & 0xff] as number);
  return ~rest >>> 0;
};

/** The machine's own loop, if it has one. */
export const crcBy = ({ loops }: Pick<Host, "loops">): Crc => loops?.crc32 ?? crc32;

export const crcOf = (host: Pick<Host, "loops">, bytes: Uint8Array): number =>
  crcBy(host)(bytes, 0, bytes.length);
