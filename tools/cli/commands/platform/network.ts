// `mote platform` on the network: its addresses, and a password instead of the defaults.
import { networkInterfaces } from "node:os";
import { randomIds } from "../../../platform/core/common/ids.js";
import { WELL_KNOWN } from "../../../platform/rest/users.js";
import { UsageError } from "../../usage.js";

export interface Password {
  readonly text: string;
  readonly isMadeUp: boolean;
}

export const WARNING =
  "The platform is open to the network, so the default passwords are disabled: anyone could replace the firmware of each device with them.";

/** Minimum password length. */
const LEAST = 8;

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Replaces the default passwords; undefined: they stay. Throws UsageError. */
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
      `invalid --admin-password: expected at least ${LEAST} characters, and not a default password`,
    );
  return { text: adminPassword, isMadeUp: false };
}

/** The platform's URLs on the networks of this machine. */
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
