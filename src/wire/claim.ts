// POST {token}/claim. Both members may be left out; the platform's defaults are an empty secret and 24 hours, which is also the longest that counts:
//
//   {"secretKey":"...","durationMs":60000}
//
// The answer is 200 without a body in every case; the first claim of a device stands until it is used or runs out.
import { mend, quote } from "./text/text.js";

export interface Claim {
  readonly secretKey?: string | undefined;
  /** Milliseconds, whole, 1 and more. */
  readonly durationMs?: number | undefined;
}

export type ClaimEncoded =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Checks and writes a claim. `reason` holds nothing of the secret. */
export const encodeClaim = (claim: Claim): ClaimEncoded => {
  const { secretKey, durationMs } = claim;
  const members: string[] = [];
  if (secretKey !== undefined) {
    if (typeof secretKey !== "string") return { ok: false, reason: "secretKey must be a text" };
    if (mend(secretKey) !== secretKey)
      return { ok: false, reason: "secretKey holds half of a surrogate pair" };
    members.push(`"secretKey":${quote(secretKey)}`);
  }
  if (durationMs !== undefined) {
    if (!Number.isSafeInteger(durationMs) || durationMs < 1) {
      return { ok: false, reason: "durationMs must be a whole number of milliseconds, 1 at least" };
    }
    members.push(`"durationMs":${durationMs}`);
  }
  return { ok: true, text: `{${members.join(",")}}` };
};
