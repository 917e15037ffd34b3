import type { PlatformSession, RequestChannel } from "../../platform/index.js";
import { ask, post } from "../../platform/index.js";
import { type Claim, encodeClaim } from "../../wire/claim.js";
import { CLAIM_PATH } from "../../wire/paths.js";

const DEADLINE_MS = 30_000;

/** See `Agent.claim`. */
export async function sendClaim(
  session: PlatformSession,
  channel: RequestChannel,
  claim: Claim,
): Promise<void> {
  const encoded = encodeClaim(claim);
  if (!encoded.ok) throw session.counters.error("BAD_VALUE", encoded.reason);
  if (claim.secretKey !== undefined) session.host.conceal?.(claim.secretKey);
  await ask(session, channel, post(CLAIM_PATH, session.host.encode(encoded.text)), DEADLINE_MS);
}
