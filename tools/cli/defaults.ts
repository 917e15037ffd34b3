// Stored default options (`mote config set rpc.timeout 30s`), which flags and environment override.
import type { Command, Option } from "commander";
import { commandOf, defaultOf } from "./command-tree.js";
import { readSettings } from "./operator/settings.js";
import { UsageError } from "./usage.js";

/** Secrets are not stored: others may copy the file. */
const SECRET = /token|secret|password|jwt|provision-key/;
/** Options without a stored default: they must be given on every call, or by a login. */
const EACH_TIME = /^(?:yes|help|version|url|platform|username)$/;

interface Found {
  command: Command;
  option: Option;
}

/** Finds an option such as `rpc.timeout`. Throws UsageError if it cannot have a default. */
export function findOption(program: Command, key: string): Found {
  const names = key.split(".");
  const name = names.pop() ?? "";
  const { found: named, left } = commandOf(program, names);
  // `devices.limit` means the option of `devices list`, which runs without being named.
  const isCommand = named !== program && left === undefined;
  const command = (isCommand ? [named, defaultOf(named)] : []).find((one) =>
    one?.options.some((option) => option.name() === name),
  );
  const option = command?.options.find((one) => one.name() === name);
  if (!command || !option)
    throw new UsageError(
      `unknown option "${key}" (expected COMMAND.OPTION, for example rpc.timeout or firmware.push.timeout)`,
    );
  if (SECRET.test(name))
    throw new UsageError(`"${key}" is a secret and cannot be stored: set it in the environment`);
  if (EACH_TIME.test(name) || option.mandatory)
    throw new UsageError(`"${key}" cannot have a default: give it on every call, or log in`);
  return { command, option };
}

/** Parses `text` for the option. Throws UsageError if it is invalid. */
export function valueFor({ option }: Found, text: string): unknown {
  if (option.isBoolean() || option.negate) {
    if (text !== "true" && text !== "false")
      throw new UsageError(`invalid --${option.name()} "${text}": expected true or false`);
    return (text === "true") !== option.negate;
  }
  if (option.argChoices && !option.argChoices.includes(text))
    throw new UsageError(`invalid --${option.name()} "${text}": expected ${option.argChoices.join(", ")}`);
  try {
    return option.parseArg ? option.parseArg(text, undefined as never) : text;
  } catch (error) {
    throw new UsageError(
      `invalid --${option.name()} "${text}": ${error instanceof Error ? error.message : "unknown"}`,
    );
  }
}

/** Applies the stored defaults to the loaded commands. */
export function applyDefaults(program: Command): void {
  const { defaults } = readSettings();
  for (const [key, text] of Object.entries(defaults)) {
    if (!program.commands.some((one) => key.startsWith(`${one.name()}.`))) continue;
    const found = findOption(program, key);
    found.command.setOptionValueWithSource(found.option.attributeName(), valueFor(found, text), "config");
  }
}
