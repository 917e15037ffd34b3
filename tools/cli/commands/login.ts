import { type Command, Option } from "commander";
import type { Session } from "../../operator/rest.js";
import { askSecret } from "../ask.js";
import { forgetLogin, loginPath, readLogin, writeLogin } from "../operator/login-file.js";
import { LIMITS, logIn, notLoggedIn } from "../operator/operator.js";
import { chosenPlatform, platformName, readSettings, writeSettings } from "../operator/settings.js";
import { note } from "../output/table.js";
import { UsageError } from "../usage.js";

const HELP = `
The password is taken from MOTE_PLATFORM_PASSWORD, or asked for on the terminal. What is kept is the session, not the password, in
mote/login.json of the configuration directory (or MOTE_LOGIN), which only you can read. With --platform it is kept under that name beside it,
and the commands that follow are for that platform: mote config shows all, mote config use NAME goes to another.

Examples:
  mote login --url https://platform.example.com --username tenant@example.com
  mote login --platform home --url http://127.0.0.1:8080 --username tenant@thingsboard.org`;

interface LoginFlags {
  url?: string;
  username?: string;
  platform?: string;
}

const platformOption = (description: string): Option =>
  new Option("--platform <name>", description).env("MOTE_PLATFORM");

export function loginCommand(program: Command): void {
  program
    .command("login")
    .description("log in at a platform, for the commands of an operator")
    .addOption(new Option("--url <url>", "of the platform").env("MOTE_PLATFORM_URL"))
    .addOption(
      new Option("--username <name>", "name of a tenant administrator or a customer's user").env(
        "MOTE_PLATFORM_USERNAME",
      ),
    )
    .addOption(platformOption("keep it under this name, beside others"))
    .addHelpText("after", HELP)
    .action(login);
}

async function login(flags: LoginFlags): Promise<void> {
  const name = flags.platform === undefined ? undefined : platformName(flags.platform);
  const path = loginPath(name);
  const before = readLogin(path);
  const url = flags.url ?? before?.url;
  const username = flags.username ?? before?.username;
  if (url === undefined || username === undefined)
    throw new UsageError(
      "--url URL and --username NAME are needed (or MOTE_PLATFORM_URL, MOTE_PLATFORM_USERNAME)",
    );
  // Nobody should type a password that can't be used.
  notLoggedIn(url);
  const password = process.env.MOTE_PLATFORM_PASSWORD ?? (await askSecret(`Password of ${username}: `));
  if (!password)
    throw new UsageError("the password is needed: MOTE_PLATFORM_PASSWORD, or a terminal to ask on");
  const keep = (session: Session): void => writeLogin({ url, username, ...session }, path);
  const { authority = "" } = await logIn(url, username, password, keep);
  const { platform, ...settings } = readSettings();
  if (platform !== name) writeSettings({ ...settings, ...(name !== undefined && { platform: name }) });
  note(`Logged in at ${url} as ${username}; kept in ${path}`);
  if (Object.hasOwn(LIMITS, authority)) note(`Note: ${LIMITS[authority]}.`);
}

export function logoutCommand(program: Command): void {
  program
    .command("logout")
    .description("forget the login")
    .addOption(platformOption("of the platform of this name (default: the one in use)"))
    .action(({ platform }: { platform?: string }) => {
      const path = loginPath(chosenPlatform(platform));
      note(forgetLogin(path) ? "The login is forgotten." : "There was no login.");
    });
}
