// Images of the firmware tests.
import { createHash } from "node:crypto";

/** An image of `size` bytes that begins with its version. */
export function imageOf(version: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 7 + (i >> 8) * 13 + version.length) & 0xff;
  bytes.set(new TextEncoder().encode(`${version}\n`));
  return bytes;
}

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
