// Whom a board's connections trust: what is built in or was given at commissioning, renewed where the image has that part.
import type { Machine } from "../board-hardware.js";
import type { BoardHost } from "../host.js";

/** `host` that trusts the authorities (DER) that its owner gave; undefined: those that are built in. */
export const withTrust = (
  machine: Machine,
  host: BoardHost,
  given: readonly Uint8Array[] | undefined,
): BoardHost => {
  const { trusting, authorities, renewTrust } = machine;
  if (!renewTrust) return given ? { ...host, open: trusting(given) } : host;
  const renewal = renewTrust(host, {
    authorities: given ?? authorities ?? [],
    isBuiltIn: true,
    isCommissioned: given !== undefined,
    open: trusting,
  });
  return { ...host, open: renewal.open, renewal };
};
