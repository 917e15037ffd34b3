// Request targets of the device API, below the base URL:
//
//   /api/v1/{token}/telemetry                     /api/v1/{token}/rpc?timeout=25000
//   /api/v1/{token}/attributes?clientKeys=a,b     /api/v1/{token}/rpc/{id}
//   /api/v1/{token}/attributes/updates?timeout=25000
//   /api/v1/{token}/claim                         /api/v1/{token}/firmware?title=greenhouse&version=1.0.0&size=16384&chunk=0
//   /api/v1/provision
//
// The platform's URL check answers 400 to `//`, `%2F`, `%25`, `;` and a backslash in a path: no token may hold what becomes one of these.
import { mend } from "./text.js";

const MAX_TOKEN = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT_TOKEN = /[/\\;%\u0000-\u001f\u007f]|^\s|\s$|^\.\.?$/;

export const PROVISION_PATH = "/api/v1/provision";

/** Percent-encodes UTF-8 for a path segment or a query. Never throws: half a surrogate pair becomes U+FFFD. */
export function escapeText(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(mend(text));
  }
}

/** Says why an access token cannot be used (without showing it), or undefined if it can. */
export function checkToken(token: unknown): string | undefined {
  if (typeof token !== "string" || token === "") return "the access token must be a text that is not empty";
  if (token.length > MAX_TOKEN) return `the access token is longer than ${MAX_TOKEN} characters`;
  if (!UNFIT_TOKEN.test(token)) return undefined;
  return "the access token holds a character that the platform refuses in an address (/ \\ ; % or a control character), or begins or ends with a space";
}

const devicePath = (token: string, rest: string): string => `/api/v1/${escapeText(token)}/${rest}`;

export const telemetryPath = (token: string): string => devicePath(token, "telemetry");
/** `query` as `attributesQuery` gives it; empty for POST. */
export const attributesPath = (token: string, query = ""): string => devicePath(token, `attributes${query}`);
export const updatesPath = (token: string, timeoutMs: number): string =>
  devicePath(token, `attributes/updates?timeout=${timeoutMs}`);
export const rpcPollPath = (token: string, timeoutMs: number): string =>
  devicePath(token, `rpc?timeout=${timeoutMs}`);
export const rpcAnswerPath = (token: string, id: number): string => devicePath(token, `rpc/${id}`);
export const rpcCallPath = (token: string): string => devicePath(token, "rpc");
export const claimPath = (token: string): string => devicePath(token, "claim");

/** The whole image without `part`; with it the bytes from `size * chunk` on, `size` at most (`size` > 0, the product within 31 bits). */
export function firmwarePath(
  token: string,
  title: string,
  version: string,
  part?: { readonly size: number; readonly chunk: number },
): string {
  const query = `title=${escapeText(title)}&version=${escapeText(version)}`;
  return devicePath(token, `firmware?${query}${part ? `&size=${part.size}&chunk=${part.chunk}` : ""}`);
}
