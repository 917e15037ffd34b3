import { codeOf } from "./files.js";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ECONNABORTED: "connection aborted",
  EPIPE: "connection reset",
  ENOTFOUND: "name not found",
  EAI_AGAIN: "name not found (no answer of the name server)",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  ENETDOWN: "network down",
  EADDRNOTAVAIL: "no such address",
  EACCES: "not permitted",
  CERT_HAS_EXPIRED: "certificate: expired",
  CERT_NOT_YET_VALID: "certificate: not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate: self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate: self-signed issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate: unknown issuer",
  UNABLE_TO_GET_ISSUER_CERT: "certificate: unknown issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate: unknown issuer",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate: for another name",
  // Node's message if the first bytes are not TLS.
  ERR_SSL_WRONG_VERSION_NUMBER: "TLS: the other side does not speak it (a port for http?)",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "TLS: the other side does not speak it (a port for http?)",
};

/** Why a connection failed, without addresses (which Node's messages contain). At most 80 bytes. */
export function whyClosed(error: unknown): string {
  const code = codeOf(error);
  const known = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  return known ?? (code.startsWith("ERR_SSL") ? `TLS: ${code}` : code).slice(0, 80);
}
