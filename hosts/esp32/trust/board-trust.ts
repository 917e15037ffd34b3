// The CAs that a board trusts: built in or entered at commissioning, renewed if the image has
// `mote/trust`.
import type { BoardHardware } from "../board-hardware.js";
import type { BoardHost } from "../host.js";

/** `host` that trusts the CAs (DER) of its owner; undefined: the built-in ones. */
export const withTrust = (
  machine: BoardHardware,
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
