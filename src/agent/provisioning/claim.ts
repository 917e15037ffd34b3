import { type Claim, encodeClaim } from "../../wire/claim.js";
import { CLAIM_PATH } from "../../wire/paths.js";
import type { Lane, Link } from "../session/index.js";
import { ask, post } from "../session/index.js";

const DEADLINE_MS = 30_000;

/** See `Agent.claim`. */
export async function sendClaim(link: Link, lane: Lane, claim: Claim): Promise<void> {
  const encoded = encodeClaim(claim);
  if (!encoded.ok) throw link.counters.error("BAD_VALUE", encoded.reason);
  await ask(link, lane, post(CLAIM_PATH, link.host.encode(encoded.text)), DEADLINE_MS);
}
