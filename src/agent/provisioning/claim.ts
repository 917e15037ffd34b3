import type { PlatformSession } from "../../platform/index.js";
import { post, requestUntil } from "../../platform/index.js";
import type { WaitOptions } from "../../platform/wait.js";
import { type Claim, encodeClaim } from "../../wire/claim.js";
import { CLAIM_PATH } from "../../wire/paths.js";

/** See `Agent.claim`. */
export async function sendClaim(session: PlatformSession, claim: Claim & WaitOptions): Promise<void> {
  const encoded = encodeClaim(claim);
  if (!encoded.ok) throw session.counters.emitError("BAD_VALUE", encoded.reason);
  if (claim.secretKey !== undefined) session.redactor.pin(claim.secretKey);
  await requestUntil(session, "application", post(CLAIM_PATH, session.host.encode(encoded.text)), claim);
}
