/// <reference path="../sdk-tls.d.ts" />
import { sequence, TAG, unsigned } from "../../x509/der.js";

/** Both numbers of an ECDSA signature lie between 1 and `order` - 1. The SDK does not look; with zeros any signature holds. */
export function inRange(signature: Uint8Array, order: bigint): boolean {
  const numbers = sequence(signature);
  for (let i = 0; i < 2; i++) {
    const bytes = unsigned(numbers.next(TAG.integer).contents);
    const number = BigInt.fromArrayBuffer(bytes.slice().buffer);
    if (number < 1n || number >= order) return false;
  }
  return numbers.done;
}
