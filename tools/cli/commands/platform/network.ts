// `mote platform` beyond this machine: where a board finds it, and a password that is not in every manual.
import { networkInterfaces } from "node:os";
import { randomIds } from "../../../platform/core/common/ids.js";
import { WELL_KNOWN } from "../../../platform/rest/users.js";
import { UsageError } from "../../usage.js";

export interface Password {
  readonly text: string;
  readonly isMadeUp: boolean;
}

export const WARNING =
  "It is open to the network. The well-known passwords of a fresh server do not hold here: whoever knows them could replace the firmware of each device.";

/** Of a password that nobody should be able to guess. */
const LEAST = 8;

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

/** What takes the place of the well-known passwords; undefined: they hold. Throws UsageError. */
export function passwordFor({
  host,
  adminPassword,
}: {
  host: string;
  adminPassword?: string;
}): Password | undefined {
  if (adminPassword === undefined)
    return isLoopback(host) ? undefined : { text: randomIds.token(16), isMadeUp: true };
  if (WELL_KNOWN.some((known) => known === adminPassword) || adminPassword.length < LEAST)
    throw new UsageError(
      `--admin-password has ${LEAST} characters at least, and is none that everybody knows`,
    );
  return { text: adminPassword, isMadeUp: false };
}

/** The platform's address as others see it: one for each network that this machine is in. */
export function reachable(url: string, host: string): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [url];
  const addresses = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal, family, scopeid }) => {
      const isFitting = family === "IPv4" || (host === "::" && !scopeid);
      return !internal && isFitting;
    });
  return addresses.map(({ address, family }) => {
    const moved = new URL(url);
    moved.hostname = family === "IPv6" ? `[${address}]` : address;
    return moved.href.replace(/\/$/, "");
  });
}
