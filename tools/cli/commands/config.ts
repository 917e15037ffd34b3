// `mote config`: the platforms that are known by name, which of them is in use, and defaults of options.
import { rmSync } from "node:fs";
import type { Command } from "commander";
import { confirm } from "../ask.js";
import { findOption, valueFor } from "../defaults.js";
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
import { UsageError } from "../usage.js";

interface ShowFlags {
  json?: boolean;
  wide?: boolean;
}

const HELP = `
Platforms are added by mote login --platform NAME. A command is for the one in use, unless --platform or MOTE_PLATFORM says another. What the command
line or the environment says comes before a default that is kept here. No secret is kept here.

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
    .description("show and set which platform is in use, and defaults of options")
    .addHelpText("after", HELP);
  const shown = config.command("show", { isDefault: true }).description("show all of it (no token)");
  wideOption(shown.option("--json", "JSON on the standard output, for programs")).action(show);
  config
    .command("use")
    .description("have all commands use another platform")
    .argument("<name>", "as it was given at the login; default: the one without a name")
    .action(use);
  config
    .command("set")
    .description("set the default of an option")
    .argument("<command.option>", "like rpc.timeout")
    .argument("<value>", "true or false for one that takes none")
    .action((key: string, text: string) => set(key, text, makeProgram));
  config.command("unset").description("take such a default back").argument("<command.option>").action(unset);
  yesOption(config.command("forget").description("forget a platform and the login there"))
    .argument("<name>")
    .action(forget);
}

function show({ json, wide }: ShowFlags): void {
  const { platform = null, defaults } = readSettings();
  const platforms = knownPlatforms().map(({ name, login: { url, username } }) => {
    return { name, url, username, used: name === platform };
  });
  if (json) {
    outJson({ file: settingsPath(), platform, platforms, defaults });
    return;
  }
  if (platforms.length === 0) note("No login yet: mote login --url URL --username NAME");
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
    throw new UsageError(
      `no login yet at ${text}: mote login${name ? ` --platform ${name}` : ""} --url URL --username NAME`,
    );
  const { platform: _, ...settings } = readSettings();
  writeSettings({ ...settings, ...(name !== undefined && { platform: name }) });
  note(`Commands are for ${login.url} now.`);
}

async function set(key: string, text: string, makeProgram: MakeProgram): Promise<void> {
  valueFor(findOption(await makeProgram(), key), text);
  const settings = readSettings();
  writeSettings({ ...settings, defaults: { ...settings.defaults, [key]: text } });
  note(`${key} is ${text} by default now.`);
}

function unset(key: string): void {
  const { defaults, ...settings } = readSettings();
  if (!Object.hasOwn(defaults, key)) throw new UsageError(`${key} has no default of yours`);
  const { [key]: _, ...left } = defaults;
  writeSettings({ ...settings, defaults: left });
  note(`${key} has mote's own default again.`);
}

async function forget(text: string, { yes }: { yes?: boolean }): Promise<void> {
  const name = platformName(text);
  const path = loginPath(name);
  const login = readLogin(path);
  if (!login) throw new UsageError(`there is no platform ${text}: mote config`);
  await confirm(`Forget ${text} (${login.url}) and the login there?`, yes);
  rmSync(path, { force: true });
  const { platform, ...settings } = readSettings();
  if (name !== undefined && platform === name) writeSettings(settings);
  note(`${text} is forgotten.`);
}
