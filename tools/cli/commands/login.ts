// `mote login` and `mote logout`: saved logins, and the one in use.
import { type Command, Option } from "commander";
import { UNANSWERED } from "../../exit-codes.js";
import type { Session } from "../../operator/rest.js";
import { askSecret, readSecret } from "../ask.js";
import { ExitError } from "../exit-error.js";
import { forgetLogin, loginPath, readLogin, writeLogin } from "../operator/login-file.js";
import { LIMITS, logIn, notLoggedIn } from "../operator/operator.js";
import {
  chosenPlatform,
  platformName,
  savedLogins,
  usedPlatform,
  usePlatform,
} from "../operator/settings.js";
import { note, out, plain, table } from "../output/table.js";
import { UsageError } from "../usage.js";

const HELP = `
Mote asks for the password, unless --password-stdin or MOTE_PLATFORM_PASSWORD provides it. It saves the session, not the password, in mote/login.json
of your configuration directory (or MOTE_LOGIN); only you can read the file. --platform saves the login under a name. Later commands use the last login,
or the one of --use.

Examples:
  mote login --url https://platform.example.com --username tenant@example.com
  mote login --platform home --url http://127.0.0.1:8080 --username tenant@thingsboard.org
  mote login --url http://127.0.0.1:8080 --username tenant@thingsboard.org --password-stdin < password.txt
  mote login --list
  mote login --use home`;

interface LoginFlags {
  url?: string;
  username?: string;
  platform?: string;
  passwordStdin?: true;
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
  const username = flags.username ?? before?.username;
  if (url === undefined || username === undefined)
    throw new UsageError("missing --url or --username (or MOTE_PLATFORM_URL, MOTE_PLATFORM_USERNAME)");
  // Check the URL before anybody types a password.
  notLoggedIn(url);
  const password = await passwordFor(username, flags);
  if (!password) throw new UsageError("missing password: use --password-stdin or MOTE_PLATFORM_PASSWORD");
  const keep = (session: Session): void => writeLogin({ url, username, ...session }, path);
  const { authority = "" } = await logIn(url, username, password, keep);
  usePlatform(name);
  const role = ROLES[authority] ?? plain(authority);
  note(`Logged in to ${url} as ${username}, ${role}. Later commands go there. Saved in ${path}.`);
  if (Object.hasOwn(LIMITS, authority)) note(`Note: ${LIMITS[authority]}.`);
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
