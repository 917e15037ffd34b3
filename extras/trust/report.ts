// Reports a device's trust as client attributes.
import { short } from "./announcement.js";
import { endOf } from "./authority.js";
import type { Trusted } from "./trusted.js";

const SOON_MS = 60 * 86_400_000;
/** Maximum number of listed CAs: an operator's file may contain a hundred. */
const MOST_SHOWN = 8;

/**
 * `moteTrustState`: the trusted CAs and their expiry, the last accepted announcement, CAs waiting
 * to be dropped, and why an announcement was rejected. `moteTrustWarning`: not empty if the last
 * trusted CA expires within 60 days; absent while the time is unknown.
 */
export const reported = (
  trusted: Trusted,
  refused: { readonly reason: string; readonly sequence?: number } | undefined,
  now: number | undefined,
): Record<string, unknown> => {
  const { sequence, waiting } = trusted.state;
  const all = trusted.authorities().map((one) => ({ id: one.id, ends: endOf(one) }));
  const trusts = all
    .slice(0, MOST_SHOWN)
    .map(({ id, ends }) => ({ sha256: short(id), ...(ends !== undefined && { ends: dayOf(ends) }) }));
  const moteTrustState = {
    sequence,
    trusts,
    ...(all.length > MOST_SHOWN && { more: all.length - MOST_SHOWN }),
    ...(waiting.length > 0 && { waiting: waiting.slice(0, MOST_SHOWN).map(short) }),
    ...(refused && { refused }),
  };
  if (now === undefined) return { moteTrustState };
  return { moteTrustState, moteTrustWarning: warning(all, now) };
};

const warning = (all: readonly { readonly ends: number | undefined }[], now: number): string => {
  const ends = all.map((one) => one.ends);
  if (ends.length === 0 || ends.includes(undefined)) return "";
  const last = (ends as number[]).reduce((one, other) => Math.max(one, other));
  if (last - now >= SOON_MS) return "";
  return `the last trusted CA ${last < now ? "expired" : "expires"} on ${dayOf(last)}`;
};

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
