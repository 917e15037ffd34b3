// Reads the header of an ESP-IDF image: chip and flash size.
import { CHIPS } from "../esp32/chips.js";

const MAGIC = 0xe9;
/** Of the head, with its extension. */
const HEAD = 24;
const MEGABYTE = 1024 * 1024;

export interface ImageHeader {
  /** As ESP-IDF names it; its number where it is not known here. */
  readonly chip: string;
  readonly flashBytes: number;
}

/** Undefined where `bytes` is no such image: data, a partition table. */
export function readImageHeader(bytes: Uint8Array): ImageHeader | undefined {
  if (bytes.length < HEAD || bytes[0] !== MAGIC) return undefined;
  const id = bytes[12]! + 256 * bytes[13]!;
  const chip = CHIPS.find((known) => known.id === id)?.name ?? `chip ${id}`;
  return { chip, flashBytes: MEGABYTE * 2 ** (bytes[3]! >> 4) };
}
