// POST {token}/claim. Both members are optional; the platform defaults to an empty secret and 24
// hours, which is also the maximum:
//
//   {"secretKey":"...","durationMs":60000}
//
// The platform always answers 200 without a body. A device's first claim stands until it is used or
// expires.
import { mend, quote } from "./text/text.js";

export interface Claim {
  readonly secretKey?: string | undefined;
  /** Whole milliseconds, at least 1. */
  readonly durationMs?: number | undefined;
}

export type ClaimEncoded =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Validates and encodes a claim. `reason` never contains the secret. */
export const encodeClaim = (claim: Claim): ClaimEncoded => {
  const { secretKey, durationMs } = claim;
  const members: string[] = [];
  if (secretKey !== undefined) {
    if (typeof secretKey !== "string") return { ok: false, reason: "secretKey must be a string" };
    if (mend(secretKey) !== secretKey)
      return { ok: false, reason: "secretKey must not contain half of a surrogate pair" };
    members.push(`"secretKey":${quote(secretKey)}`);
  }
  if (durationMs !== undefined) {
    if (!Number.isSafeInteger(durationMs) || durationMs < 1) {
      return { ok: false, reason: "durationMs must be a whole number of milliseconds, at least 1" };
    }
    members.push(`"durationMs":${durationMs}`);
  }
  return { ok: true, text: `{${members.join(",")}}` };
};
