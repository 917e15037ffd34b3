// Request targets of the device API: a prefix with the token, and the rest:
//
//   /api/v1/{token}/   telemetry                            rpc?timeout=25000
//                      attributes?clientKeys=a,b            rpc/{id}
//                      attributes/updates?timeout=25000     rpc
//                      claim
//                      firmware?title=greenhouse&version=1.0.0&size=16384&chunk=0
//   /api/v1/           provision
//
// The platform answers 400 to `//`, `%2F`, `%25`, `;` and a backslash in a path, so no token may
// contain characters that become one of these.
import { Secret } from "./secret.js";
import { hasControl } from "./text/characters.js";
import { mend } from "./text/text.js";

const MAX_TOKEN = 255;

/** Prefix of `PROVISION_PATH`, which needs no token. */
export const API_PREFIX = "/api/v1/";
export const PROVISION_PATH = "provision";
export const TELEMETRY_PATH = "telemetry";
export const RPC_CALL_PATH = "rpc";
export const CLAIM_PATH = "claim";

/**
 * Percent-encodes UTF-8 for a path segment or query. Never throws: half a surrogate pair becomes
 * U+FFFD.
 */
export const escapeText = (text: string): string => {
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(mend(text));
  }
};

/** Returns why an access token is invalid (without quoting it); undefined if it is valid. */
export const checkToken = (token: unknown): string | undefined => {
  if (typeof token !== "string" || token === "") return "the access token must be a non-empty string";
  if (token.length > MAX_TOKEN) return `the access token is longer than ${MAX_TOKEN} characters`;
  const isFit = token.trim() === token && token !== "." && token !== ".." && !hasControl(token);
  if (isFit && !["/", "\\", ";", "%"].some((unfit) => token.includes(unfit))) return undefined;
  return "the access token must not contain / \\ ; % or a control character, or begin or end with a space";
};

/** Before every other path. It holds the token. */
export const devicePrefix = (token: Secret): Secret =>
  new Secret(`${API_PREFIX}${escapeText(token.reveal())}/`, token.binding);

/** `query`: result of `attributesQuery`; empty for POST. */
export const attributesPath = (query = ""): string => `attributes${query}`;
export const updatesPath = (timeoutMs: number): string => `attributes/updates?timeout=${timeoutMs}`;
export const rpcPollPath = (timeoutMs: number): string => `rpc?timeout=${timeoutMs}`;
export const rpcAnswerPath = (id: number): string => `rpc/${id}`;

/**
 * Without `part`, the whole image; otherwise at most `size` bytes from `size * chunk` on (`size` >
 * 0, product below 2^31).
 */
export const firmwarePath = (
  title: string,
  version: string,
  part?: { readonly size: number; readonly chunk: number },
): string => {
  const query = `title=${escapeText(title)}&version=${escapeText(version)}`;
  return `firmware?${query}${part ? `&size=${part.size}&chunk=${part.chunk}` : ""}`;
};
