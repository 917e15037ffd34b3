// A stored value as bytes (see src/sealed.ts), whatever its text says.
import { crc32 } from "../../src/wire/crypto/crc32.js";

const HEAD_BYTES = 9;

/** `text` behind its format number and a checksum that fits. */
export function storedBytes(text: string | Uint8Array, format = 1): Uint8Array {
  const body = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const head = `${format}${crc32(body).toString(16).padStart(8, "0")}`;
  return Uint8Array.of(...new TextEncoder().encode(head), ...body);
}

/** The JSON value in `bytes`. */
// biome-ignore lint/suspicious/noExplicitAny: as JSON.parse
export const storedJson = (bytes: Uint8Array): any =>
  JSON.parse(new TextDecoder().decode(bytes.subarray(HEAD_BYTES)));
