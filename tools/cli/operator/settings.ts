// What the user has chosen for all commands: the platform, by its name, and defaults of options. `mote/config.json` beside the login.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../../hosts/node/files.js";
import { UsageError } from "../usage.js";
import { type Login, loginPath, readLogin, writePrivately } from "./login-file.js";

export interface Settings {
  /** Of the platform in use; absent: the one without a name. */
  platform?: string;
  /** By command and option: `{"rpc.timeout":"30s"}`. */
  defaults: Record<string, string>;
}

export interface KnownPlatform {
  /** Null of the one without a name. */
  name: string | null;
  login: Login;
}

const FORMAT = 1;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/;

export function settingsPath(): string {
  return join(dirname(loginPath()), "config.json");
}

/** Empty if there are none. Throws UsageError for a file that can't be read. */
export function readSettings(): Settings {
  let text: string;
  try {
    text = readFileSync(settingsPath(), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { defaults: {} };
    throw new UsageError(`${settingsPath()} can't be read (${codeOf(error)})`);
  }
  const { format, platform, defaults } = parsed(text);
  if (format !== FORMAT) throw new UsageError(`${settingsPath()} is no configuration of mote`);
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
    throw new Error(`the configuration can't be kept in ${path} (${codeOf(error)})`, { cause: error });
  }
}

/** The name that a command is for: what it says, `MOTE_PLATFORM`, or what was chosen; undefined is the one without a name. */
export function chosenPlatform(asked: string | undefined): string | undefined {
  return asked === undefined ? readSettings().platform : platformName(asked);
}

/** Throws UsageError for a name that no platform has; `default` is the one without a name. */
export function platformName(text: string): string | undefined {
  if (text === "default") return undefined;
  if (!NAME.test(text))
    throw new UsageError(`"${text}" is no name of a platform: letters, digits, dots, dashes, 40 at most`);
  return text;
}

/** All with a login, the one without a name first. */
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
