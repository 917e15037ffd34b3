// Stores the operator's login, readable by the user only: `mote/login.json` in the configuration
// directory, or `mote/platforms/NAME.json` for a named platform.
import { readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { codeOf, StateFileError, writeSecret } from "../../../hosts/node/files.js";
import type { ApiKey, Session } from "../../operator/rest.js";

export interface Login {
  url: string;
  username: string;
  /** The only CA certificates to trust there (PEM). */
  ca?: string | undefined;
  session: Session | ApiKey;
}

const FORMAT = 1;

/** `$MOTE_LOGIN`, or `mote/login.json` in `$XDG_CONFIG_HOME` or `~/.config`. */
export function loginPath(name?: string, env: NodeJS.ProcessEnv = process.env): string {
  const unnamed =
    env.MOTE_LOGIN || join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "mote", "login.json");
  return name === undefined ? unnamed : join(dirname(unnamed), "platforms", `${name}.json`);
}

/** Undefined if the file is missing or unreadable. */
export function readLogin(path = loginPath()): Login | undefined {
  let found: Partial<Login> & { format?: unknown };
  try {
    found = JSON.parse(readFileSync(path, "utf8")) as typeof found;
  } catch {
    return undefined;
  }
  const { format, url, username, ca, session } = found ?? {};
  const { token, refreshToken, apiKey } = (session ?? {}) as Partial<Session & ApiKey>;
  const secrets = apiKey === undefined ? [token, refreshToken] : [apiKey];
  const isText = (text: unknown): boolean => typeof text === "string";
  return format === FORMAT && [url, username, ca ?? "", ...secrets].every(isText)
    ? ({ url, username, ca, session } as Login)
    : undefined;
}

/** Replaces the file atomically. Throws an Error without secrets. */
export function writeLogin(login: Login, path = loginPath()): void {
  try {
    writePrivately(path, { format: FORMAT, ...login });
  } catch (error) {
    const why = error instanceof StateFileError ? error.message : `${path}: ${codeOf(error)}`;
    throw new Error(`cannot write the login: ${why}`, { cause: error });
  }
}

/** Writes JSON atomically, readable by the user only. */
export function writePrivately(path: string, value: object): void {
  writeSecret(path, Buffer.from(`${JSON.stringify(value)}\n`));
}

/** True if a login existed. */
export function forgetLogin(path = loginPath()): boolean {
  const found = readLogin(path) !== undefined;
  rmSync(path, { force: true });
  return found;
}
