// Verifies the bytes of an image in the slot by checksum and, if there is a key, by signature.
import { pause } from "../../../platform/wait.js";
import type { Host } from "../../../port.js";
import { sameChecksum } from "../../../wire/crypto/checksum.js";
import { toHex } from "../../../wire/crypto/hex.js";
import { isSignedBy } from "../../../wire/crypto/p256.js";
import type { Image } from "../admission.js";

const SIGNED = "SHA256";
const PIECE_BYTES = 1024;
/** Bytes read between two pauses for other work. */
const SLICE_BYTES = 32_768;

/**
 * Why the slot does not hold the image; undefined if it does. `head`: the first bytes, where they
 * are not in the slot yet.
 */
export async function problemInSlot(
  host: Pick<Host, "slot" | "clock" | "digest">,
  { algorithm, checksum, size, signed }: Image,
  head?: Uint8Array,
): Promise<"wrong checksum" | "wrong signature" | "slot changed" | undefined> {
  const { slot, clock } = host;
  const digest = host.digest(algorithm);
  const second = signed && algorithm !== SIGNED ? host.digest(SIGNED) : undefined;
  const buffer = new Uint8Array(PIECE_BYTES);
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const piece = size - at < PIECE_BYTES ? buffer.subarray(0, size - at) : buffer;
    if (!slot.read(at, piece)) return "slot changed";
    if (at === 0 && head) piece.set(head);
    digest?.write(piece);
    second?.write(piece);
    if (at % SLICE_BYTES === 0) await pause(clock);
  }
  const found = digest ? toHex(digest.close()) : "";
  if (!sameChecksum(found, checksum)) return "wrong checksum";
  if (!signed) return undefined;
  const hash = algorithm === SIGNED ? found : second && toHex(second.close());
  const isRight = hash && (await isSignedBy(signed.key, hash, signed.signature, () => pause(clock)));
  return isRight ? undefined : "wrong signature";
}
