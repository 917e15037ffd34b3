// The saved login in use, stored as `config.json` beside the login.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../usage.js";
import { type Login, loginPath, readLogin, writePrivately } from "./login-file.js";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

const settingsPath = (): string => join(dirname(loginPath()), "config.json");

/** Name of the login in use; undefined for the unnamed one. */
export function usedPlatform(): string | undefined {
  try {
    const { platform } = JSON.parse(readFileSync(settingsPath(), "utf8")) as { platform?: unknown };
    return typeof platform === "string" && NAME.test(platform) ? platform : undefined;
  } catch {
    return undefined;
  }
}

export function usePlatform(platform: string | undefined): void {
  if (platform !== usedPlatform()) writePrivately(settingsPath(), { platform });
}

/**
 * The platform to use: the option, `MOTE_PLATFORM` or the one in use. Undefined: the unnamed one.
 */
export function chosenPlatform(asked: string | undefined): string | undefined {
  return asked === undefined ? usedPlatform() : platformName(asked);
}

/** Checks a platform name; `default` is the unnamed one. Throws UsageError. */
export function platformName(text: string): string | undefined {
  if (text === "default") return undefined;
  if (!NAME.test(text))
    throw new UsageError(
      `invalid platform name "${text}": expected at most 40 letters, digits, dots, dashes or underscores`,
    );
  return text;
}

/** All saved logins, the unnamed one first. */
export function savedLogins(): { name: string | undefined; login: Login }[] {
  return [undefined, ...namesIn(join(dirname(loginPath()), "platforms"))].flatMap((name) => {
    const login = readLogin(loginPath(name));
    return login ? [{ name, login }] : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((file) => file.endsWith(".json"));
    return names.map((file) => file.slice(0, -5)).sort();
  } catch {
    return [];
  }
}
