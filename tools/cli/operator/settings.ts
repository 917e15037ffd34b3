// The platform in use and default options, stored as `config.json` beside the login.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../../hosts/node/files.js";
import { UsageError } from "../usage.js";
import { type Login, loginPath, readLogin, writePrivately } from "./login-file.js";

export interface Settings {
  /** Name of the platform in use; absent: the unnamed one. */
  platform?: string;
  /** By command and option: `{"rpc.timeout":"30s"}`. */
  defaults: Record<string, string>;
}

export interface KnownPlatform {
  /** Null for the unnamed one. */
  name: string | null;
  login: Login;
}

const FORMAT = 1;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

export function settingsPath(): string {
  return join(dirname(loginPath()), "config.json");
}

/** Empty if the file is missing. Throws UsageError for an unreadable file. */
export function readSettings(): Settings {
  let text: string;
  try {
    text = readFileSync(settingsPath(), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { defaults: {} };
    throw new UsageError(`cannot read ${settingsPath()} (${codeOf(error)})`);
  }
  const { format, platform, defaults } = parsed(text);
  if (format !== FORMAT)
    throw new UsageError(`${settingsPath()} is not a mote configuration file: fix or delete it`);
  const texts = Object.entries(defaults ?? {}).filter((entry): entry is [string, string] => {
    return typeof entry[1] === "string";
  });
  return { ...(typeof platform === "string" && { platform }), defaults: Object.fromEntries(texts) };
}

function parsed(text: string): { format?: unknown; platform?: unknown; defaults?: object } {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}

export function writeSettings(settings: Settings): void {
  const path = settingsPath();
  try {
    writePrivately(path, { format: FORMAT, ...settings });
  } catch (error) {
    throw new Error(`cannot write the configuration to ${path} (${codeOf(error)})`, { cause: error });
  }
}

/** The platform to use: the option, `MOTE_PLATFORM` or the setting. Undefined: the unnamed one. */
export function chosenPlatform(asked: string | undefined): string | undefined {
  return asked === undefined ? readSettings().platform : platformName(asked);
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

/** All platforms with a saved login, the unnamed one first. */
export function knownPlatforms(): KnownPlatform[] {
  const names = [null, ...namesIn(join(dirname(loginPath()), "platforms"))];
  return names.flatMap((name) => {
    const login = readLogin(loginPath(name ?? undefined));
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
