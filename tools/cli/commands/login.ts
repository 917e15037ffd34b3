import { type Command, Option } from "commander";
import { askSecret } from "../ask.js";
import { forgetLogin, loginPath, writeLogin } from "../operator/login-file.js";
import { logIn, notLoggedIn } from "../operator/operator.js";
import { note } from "../output/table.js";
import { UsageError } from "../usage.js";

const HELP = `
The password is taken from MOTE_PLATFORM_PASSWORD, or asked for on the terminal. What is kept is the session, not the password, in
mote/login.json of the configuration directory (or MOTE_LOGIN), which only you can read.

Example:
  mote login --url https://platform.example.com --username tenant@example.com`;

export function loginCommand(program: Command): void {
  program
    .command("login")
    .description("log in at a platform, for the commands of an operator")
    .addOption(new Option("--url <url>", "of the platform").env("MOTE_PLATFORM_URL").makeOptionMandatory())
    .addOption(
      new Option("--username <name>", "of a tenant's administrator")
        .env("MOTE_PLATFORM_USERNAME")
        .makeOptionMandatory(),
    )
    .addHelpText("after", HELP)
    .action(async ({ url, username }: { url: string; username: string }) => {
      // Nobody should type a password that can't be used.
      notLoggedIn(url);
      const password = process.env.MOTE_PLATFORM_PASSWORD ?? (await askSecret(`Password of ${username}: `));
      if (!password)
        throw new UsageError("the password is needed: MOTE_PLATFORM_PASSWORD, or a terminal to ask on");
      await logIn(url, username, password, (session) => writeLogin({ url, username, ...session }));
      note(`Logged in at ${url} as ${username}; kept in ${loginPath()}`);
    });
}

export function logoutCommand(program: Command): void {
  program
    .command("logout")
    .description("forget the login")
    .action(() => {
      note(forgetLogin() ? "The login is forgotten." : "There was no login.");
    });
}
