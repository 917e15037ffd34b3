// Who operates, and where: by the environment, or by a saved login.
import { REFUSED } from "../../exit-codes.js";
import { OperatorError } from "../../operator/error.js";
import { Operator } from "../../operator/operator.js";
import type { ApiKey, RestOptions, Session } from "../../operator/rest.js";
import { ExitError } from "../exit-error.js";
import { quoted } from "../output/table.js";
import { readCa, UsageError } from "../usage.js";
import { type Login, loginPath, readLogin, writeLogin } from "./login-file.js";
import { chosenPlatform } from "./settings.js";
import { trusting } from "./trusting.js";

export interface PlatformFlags {
  platform?: string;
  /** File of the CA certificates (PEM) to trust. */
  ca?: string;
}

interface Place {
  /** The platform's URL; undefined without any. */
  readonly base: string | undefined;
  readonly kept: Login | undefined;
  readonly path: string;
  readonly ca: string | undefined;
}

/** Throws UsageError for the name of no saved login. */
function placeOf({ platform, ca }: PlatformFlags): Place {
  const { MOTE_PLATFORM_URL: url } = process.env;
  const name = chosenPlatform(platform);
  const path = loginPath(name);
  const found = readLogin(path);
  if (!found && name !== undefined && !url)
    throw new UsageError(
      `no saved login "${name}" (log in: mote login --platform ${name} --url URL --username NAME)`,
    );
  const base = url || found?.url;
  const kept = found && samePlace(found.url, base ?? "") ? found : undefined;
  return { base, kept, path, ca: readCa(ca) ?? kept?.ca };
}

/** The CA certificates that a command trusts; undefined: those of the system. */
export const trustedCa = (flags: PlatformFlags): string | undefined => placeOf(flags).ca;

/** The login of the environment comes before a saved one. */
export async function operatorOf(flags: PlatformFlags): Promise<Operator> {
  const { base, kept, path, ca } = placeOf(flags);
  if (base === undefined)
    throw new UsageError("not logged in (log in: mote login --url URL --username NAME)");
  const {
    MOTE_PLATFORM_USERNAME: username,
    MOTE_PLATFORM_PASSWORD: password,
    MOTE_PLATFORM_API_KEY: key,
    MOTE_PLATFORM_JWT: jwt,
  } = process.env;
  if (key) return (await useKey(base, key, ca)).operator;
  if (jwt) return unused(base, ca, { session: { token: jwt } });
  if (username && password !== undefined) return logIn(base, username, password, { ca });
  if (!kept || (username && username !== kept.username))
    throw new UsageError(
      `not logged in at ${base} (log in: mote login --url ${quoted(base)} --username NAME, or set MOTE_PLATFORM_USERNAME and MOTE_PLATFORM_PASSWORD)`,
    );
  const { session: _, ...login } = kept;
  const onSession = (session: Session): void => writeLogin({ ...login, session }, path);
  return unused(kept.url, ca, { session: kept.session, onSession });
}

/** True for two base URLs of one platform. */
export function samePlace(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}

/** An operator that sent nothing yet. Throws UsageError if `url` is not an http(s) URL. */
export function unused(
  url: string,
  ca?: string,
  options: Pick<RestOptions, "session" | "onSession"> = {},
): Operator {
  const isOpen = URL.canParse(url) && new URL(url).password !== "";
  if (isOpen) throw new UsageError("the URL contains a password: use --password-stdin instead");
  try {
    return new Operator({ url, ...options, ...(ca !== undefined && { fetch: trusting(ca) }) });
  } catch {
    throw new UsageError(`invalid URL "${url}": expected http:// or https://`);
  }
}

/** Throws UsageError for an invalid URL, ExitError if the platform refuses or does not answer. */
export async function logIn(
  url: string,
  username: string,
  password: string,
  { ca, onSession }: { ca?: string | undefined; onSession?: (session: Session) => void } = {},
): Promise<Operator> {
  const operator = unused(url, ca, onSession && { onSession });
  await accepted(url, `the login of ${username} (check user name and password)`, () =>
    operator.login(username, password),
  );
  return operator;
}

/** An operator with an API key, and whose key it is. Throws as `logIn`. */
export async function useKey(
  url: string,
  apiKey: string,
  ca: string | undefined,
): Promise<{ operator: Operator; username: string; session: ApiKey }> {
  const claimless = { apiKey, authority: undefined, customerId: undefined };
  const user = await accepted(url, "the API key", () => unused(url, ca, { session: claimless }).user());
  const session = { apiKey, authority: user.authority, customerId: user.customerId?.id };
  return { operator: unused(url, ca, { session }), username: user.email, session };
}

async function accepted<T>(url: string, what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const { status, message } = error;
    if (status === 401 || status === 403)
      throw new ExitError(REFUSED, `${url} refused ${what}`, { cause: error });
    const isPlatform = status === 0 || status === 429 || status >= 500 || message.startsWith("login: this");
    throw new ExitError(1, `${url}${isPlatform ? "" : " is not a ThingsBoard platform"}: ${message}`, {
      cause: error,
    });
  }
}
