// Logs the command line in to a local platform, under a name of its own.
import type { Session } from "../../operator/rest.js";
import { TENANT } from "../../tour/hints.js";
import { logIn } from "./authenticate.js";
import { loginPath, readLogin, writeLogin } from "./login-file.js";

import { savedLogins, usedPlatform, usePlatform } from "./settings.js";

const NAME = "local";
const LOOPBACK = /^https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/;

/**
 * Saves the login as `local` and uses it, unless the user has another one in use. Resolves with a
 * line for people; rejects if the platform does not answer.
 */
export async function logInLocally(url: string, mote: string): Promise<string> {
  const path = loginPath(NAME);
  const before = readLogin(path);
  const byHand = `log in: ${mote} login --url ${url} --username ${TENANT.username} (password: ${TENANT.password})`;
  // A login of the user's own under this name stays.
  if (before && !LOOPBACK.test(`${before.url}/`)) return byHand;
  const { username } = TENANT;
  try {
    const onSession = (session: Session): void => writeLogin({ url, username, session }, path);
    await logIn(url, username, TENANT.password, { onSession });
  } catch {
    return byHand;
  }
  const isOther = savedLogins().some(({ name }) => name !== NAME && name === usedPlatform());
  if (isOther) return `your login stays in use; for this platform: ${mote} login --use ${NAME}`;
  usePlatform(NAME);
  return `the command line is logged in as ${username}`;
}
