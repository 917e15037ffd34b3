// `mote login` and `mote logout`: saved logins, and the one in use.
import { type Command, Option } from "commander";
import { UNANSWERED } from "../../exit-codes.js";
import type { Operator } from "../../operator/operator.js";
import type { ApiKey, Session } from "../../operator/rest.js";
import { askSecret, readSecret } from "../ask.js";
import { ExitError } from "../exit-error.js";
import { logIn, unused, useKey } from "../operator/authenticate.js";
import { forgetLogin, loginPath, readLogin, writeLogin } from "../operator/login-file.js";
import { caOption, LIMITS } from "../operator/operator.js";
import {
  chosenPlatform,
  platformName,
  savedLogins,
  usedPlatform,
  usePlatform,
} from "../operator/settings.js";
import { note, out, plain, table } from "../output/table.js";
import { readCa, UsageError } from "../usage.js";

const HELP = `
Mote asks for the password, unless --password-stdin or MOTE_PLATFORM_PASSWORD provides it. It saves the session, not the password, in mote/login.json
of your configuration directory (or MOTE_LOGIN); only you can read the file. --platform saves the login under a name. Later commands use the last login,
or the one of --use. --ca saves the certificates with the login.

A user with two-factor authentication needs an API key of the platform: --api-key-stdin, or MOTE_PLATFORM_API_KEY. Without a login, commands take
MOTE_PLATFORM_URL with MOTE_PLATFORM_API_KEY, with MOTE_PLATFORM_JWT, or with MOTE_PLATFORM_USERNAME and MOTE_PLATFORM_PASSWORD.

Examples:
  mote login --url https://platform.example.com --username tenant@example.com
  mote login --platform home --url http://127.0.0.1:8080 --username tenant@thingsboard.org
  mote login --url http://127.0.0.1:8080 --username tenant@thingsboard.org --password-stdin < password.txt
  mote login --url https://10.0.0.5 --ca ca.pem --api-key-stdin < key.txt
  mote login --list
  mote login --use home`;

interface LoginFlags {
  url?: string;
  username?: string;
  platform?: string;
  passwordStdin?: true;
  apiKeyStdin?: true;
  ca?: string;
  list?: true;
  use?: string;
}

const ROLES: Readonly<Record<string, string>> = {
  SYS_ADMIN: "system administrator",
  TENANT_ADMIN: "tenant administrator",
  CUSTOMER_USER: "customer user",
};

const platformOption = (description: string): Option =>
  new Option("--platform <name>", description).env("MOTE_PLATFORM");

export function loginCommand(program: Command): void {
  program
    .command("login")
    .description("log in to a platform, list saved logins, or switch to another one")
    .addOption(new Option("--url <url>", "platform URL").env("MOTE_PLATFORM_URL"))
    .addOption(
      new Option("--username <name>", "tenant administrator or customer user").env("MOTE_PLATFORM_USERNAME"),
    )
    .addOption(platformOption("save the login under this name"))
    .option("--password-stdin", "read the password from standard input")
    .addOption(
      new Option("--api-key-stdin", "read an API key from standard input").conflicts("passwordStdin"),
    )
    .addOption(caOption("trust only these CA certificates (PEM), and save them with the login"))
    .addOption(new Option("--list", "list the saved logins; * marks the one in use").conflicts("use"))
    .option("--use <name>", 'use the saved login NAME, or "default" for the unnamed one')
    .addHelpText("after", HELP)
    .action((flags: LoginFlags) => {
      if (flags.list) return list();
      return flags.use === undefined ? login(flags) : use(flags.use);
    });
}

async function login(flags: LoginFlags): Promise<void> {
  const name = flags.platform === undefined ? undefined : platformName(flags.platform);
  const path = loginPath(name);
  const before = readLogin(path);
  const url = flags.url ?? before?.url;
  const ca = readCa(flags.ca) ?? (url === before?.url ? before?.ca : undefined);
  const key = flags.apiKeyStdin ? await readSecret() : process.env.MOTE_PLATFORM_API_KEY;
  const username = flags.username ?? before?.username;
  if (flags.apiKeyStdin && !key) throw new UsageError("missing API key on standard input");
  if (url === undefined || (username === undefined && !key))
    throw new UsageError("missing --url or --username (or MOTE_PLATFORM_URL, MOTE_PLATFORM_USERNAME)");
  // Check the URL before anybody types a password.
  unused(url);
  const keep = (who: string, session: Session | ApiKey): void =>
    writeLogin({ url, username: who, ...(ca !== undefined && { ca }), session }, path);
  const found = key
    ? await useKey(url, key, ca)
    : { username: username ?? "", operator: await byPassword(url, username ?? "", flags, ca, keep) };
  if ("session" in found) keep(found.username, found.session);
  const { authority = "" } = found.operator;
  usePlatform(name);
  const role = ROLES[authority] ?? plain(authority);
  note(
    `Logged in to ${url} as ${plain(found.username)}, ${role}. Later commands go there. Saved in ${path}.`,
  );
  if (Object.hasOwn(LIMITS, authority)) note(`Note: ${LIMITS[authority]}.`);
}

async function byPassword(
  url: string,
  username: string,
  flags: LoginFlags,
  ca: string | undefined,
  keep: (who: string, session: Session) => void,
): Promise<Operator> {
  const password = await passwordFor(username, flags);
  if (!password) throw new UsageError("missing password: use --password-stdin or MOTE_PLATFORM_PASSWORD");
  return logIn(url, username, password, { ca, onSession: (session) => keep(username, session) });
}

function passwordFor(username: string, { passwordStdin }: LoginFlags): Promise<string | undefined> {
  if (passwordStdin) return readSecret();
  const { MOTE_PLATFORM_PASSWORD: given } = process.env;
  return given === undefined ? askSecret(`Password for ${username}: `) : Promise.resolve(given);
}

function list(): void {
  const used = usedPlatform();
  const rows = savedLogins().map(({ name, login: { url, username } }) => [
    ...[name === used ? "*" : "", name ?? "default"],
    ...[url, username],
  ]);
  if (rows.length === 0) note("No saved login (log in: mote login --url URL --username NAME).");
  else out(table(["", "NAME", "URL", "USER"], rows));
}

function use(text: string): void {
  const name = platformName(text);
  const login = readLogin(loginPath(name));
  if (!login) throw new ExitError(UNANSWERED, `no saved login "${text}" (list: mote login --list)`);
  usePlatform(name);
  note(`Commands now go to ${login.url} as ${login.username}.`);
}

export function logoutCommand(program: Command): void {
  program
    .command("logout")
    .description("delete the saved login")
    .addOption(platformOption("saved login NAME (default: the one in use)"))
    .action(({ platform }: { platform?: string }) => {
      const path = loginPath(chosenPlatform(platform));
      note(forgetLogin(path) ? "Logged out." : "Not logged in.");
    });
}
