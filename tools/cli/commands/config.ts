// `mote config`: saved logins, the platform in use, and default options.
import { rmSync } from "node:fs";
import type { Command } from "commander";
import { UNANSWERED } from "../../exit-codes.js";
import { confirm } from "../ask.js";
import { findOption, valueFor } from "../defaults.js";
import { ExitError } from "../exit-error.js";
import { loginPath, readLogin } from "../operator/login-file.js";
import { wideOption, yesOption } from "../operator/operator.js";
import {
  knownPlatforms,
  platformName,
  readSettings,
  settingsPath,
  writeSettings,
} from "../operator/settings.js";
import { note, out, outJson, table } from "../output/table.js";

interface ShowFlags {
  json?: boolean;
  wide?: boolean;
}

const HELP = `
mote login --platform NAME adds a platform. Commands use the platform in use, unless --platform or MOTE_PLATFORM names another. The command line and the
environment override defaults. Secrets are not stored.

Examples:
  mote config
  mote config use home
  mote config set rpc.timeout 30s
  mote config set devices.wide true`;

const USED = "*";

type MakeProgram = (called?: string) => Promise<Command>;

export function configCommand(program: Command, makeProgram: MakeProgram): void {
  const config = program
    .command("config")
    .description("list saved logins, choose a platform, and set default options")
    .addHelpText("after", HELP);
  const listed = config.command("list", { isDefault: true }).alias("show");
  listed.description("list saved logins and defaults, without tokens");
  wideOption(listed.option("--json", "print JSON")).action(list);
  config
    .command("use")
    .description("switch to another platform")
    .argument("<name>", 'name given at login, or "default" for the unnamed login')
    .action(use);
  config
    .command("set")
    .description("set the default of an option")
    .argument("<command.option>", "for example rpc.timeout")
    .argument("<value>", "value; true or false for a switch")
    .action((key: string, text: string) => set(key, text, makeProgram));
  config
    .command("delete")
    .alias("unset")
    .description("delete a default")
    .argument("<command.option>", "for example rpc.timeout")
    .action(remove);
  yesOption(config.command("forget").description("delete a saved login"))
    .argument("<name>", "name given at login")
    .action(forget);
}

function list({ json, wide }: ShowFlags): void {
  const { platform = null, defaults } = readSettings();
  const platforms = knownPlatforms().map(({ name, login: { url, username } }) => {
    return { name, url, username, used: name === platform };
  });
  if (json) {
    outJson({ file: settingsPath(), platform, platforms, defaults });
    return;
  }
  if (platforms.length === 0) note("No saved login (log in: mote login --url URL --username NAME).");
  else out(table(["", "PLATFORM", "URL", "USER"], platforms.map(rowOf), { wide }));
  const set = Object.entries(defaults);
  if (set.length > 0) out(`\n${table(["OPTION", "DEFAULT"], set, { wide })}`);
}

interface Listed {
  name: string | null;
  url: string;
  username: string;
  used: boolean;
}

function rowOf({ name, url, username, used }: Listed): string[] {
  return [used ? USED : "", name ?? "default", url, username];
}

function use(text: string): void {
  const name = platformName(text);
  const login = readLogin(loginPath(name));
  if (!login)
    throw new ExitError(
      UNANSWERED,
      `no saved login "${text}" (log in: mote login${name ? ` --platform ${name}` : ""} --url URL --username NAME)`,
    );
  const { platform: _, ...settings } = readSettings();
  writeSettings({ ...settings, ...(name !== undefined && { platform: name }) });
  note(`Commands now use ${login.url}.`);
}

async function set(key: string, text: string, makeProgram: MakeProgram): Promise<void> {
  valueFor(findOption(await makeProgram(), key), text);
  const settings = readSettings();
  writeSettings({ ...settings, defaults: { ...settings.defaults, [key]: text } });
  note(`Default of ${key}: ${text}.`);
}

function remove(key: string): void {
  const { defaults, ...settings } = readSettings();
  if (!Object.hasOwn(defaults, key))
    throw new ExitError(UNANSWERED, `no default "${key}" (list: mote config)`);
  const { [key]: _, ...left } = defaults;
  writeSettings({ ...settings, defaults: left });
  note(`Deleted the default of ${key}.`);
}

async function forget(text: string, { yes }: { yes?: boolean }): Promise<void> {
  const name = platformName(text);
  const path = loginPath(name);
  const login = readLogin(path);
  if (!login) throw new ExitError(UNANSWERED, `no saved login "${text}" (list: mote config)`);
  await confirm(`Delete the saved login ${text} (${login.url})?`, yes);
  rmSync(path, { force: true });
  const { platform, ...settings } = readSettings();
  if (name !== undefined && platform === name) writeSettings(settings);
  note(`Deleted the saved login ${text}.`);
}
