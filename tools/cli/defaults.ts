// Defaults of options that the user keeps (`mote config set rpc.timeout 30s`): below what the command line and the environment say.
import type { Command, Option } from "commander";
import { readSettings } from "./operator/settings.js";
import { UsageError } from "./usage.js";

/** Not kept in a file that others may copy. */
const SECRET = /token|secret|password|jwt|provision-key/;
/** What is asked for at each call, or it would be done unasked. */
const EACH_TIME = /^(?:yes|help|version|url|platform|username)$/;

interface Found {
  command: Command;
  option: Option;
}

/** By `command.option`: `rpc.timeout`, `firmware.push.timeout`. Throws UsageError for what has no default of its own. */
export function findOption(program: Command, key: string): Found {
  const names = key.split(".");
  const name = names.pop() ?? "";
  let command: Command | undefined = program;
  for (const one of names) command = command?.commands.find((found) => found.name() === one);
  const option = names.length > 0 ? command?.options.find((one) => one.name() === name) : undefined;
  if (!command || !option)
    throw new UsageError(
      `there is no option ${key}: it is COMMAND.OPTION, like rpc.timeout or firmware.push.timeout`,
    );
  if (SECRET.test(name))
    throw new UsageError(`${key} is a secret: it is given by the environment, and not kept here`);
  if (EACH_TIME.test(name) || option.mandatory)
    throw new UsageError(`${key} is given at each call, or by a login`);
  return { command, option };
}

/** The value that the option gets. Throws UsageError for one that it can't have. */
export function valueFor({ option }: Found, text: string): unknown {
  if (option.isBoolean() || option.negate) {
    if (text !== "true" && text !== "false") throw new UsageError(`--${option.name()} is true or false`);
    return (text === "true") !== option.negate;
  }
  if (option.argChoices && !option.argChoices.includes(text))
    throw new UsageError(`--${option.name()} is one of ${option.argChoices.join(", ")}`);
  try {
    return option.parseArg ? option.parseArg(text, undefined as never) : text;
  } catch (error) {
    throw new UsageError(`--${option.name()}: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

/** Of the commands that are there. */
export function applyDefaults(program: Command): void {
  const { defaults } = readSettings();
  for (const [key, text] of Object.entries(defaults)) {
    if (!program.commands.some((one) => key.startsWith(`${one.name()}.`))) continue;
    const found = findOption(program, key);
    found.command.setOptionValueWithSource(found.option.attributeName(), valueFor(found, text), "config");
  }
}
