// Looks up commands and subcommands by name.
import type { Command } from "commander";

/** Follows `names` into subcommands. `left`: the first name without a command. */
export function commandOf(program: Command, names: readonly string[]): { found: Command; left?: string } {
  let found = program;
  for (const name of names) {
    const next = found.commands.find((one) => one.name() === name || one.aliases().includes(name));
    if (!next) return { found, left: name };
    found = next;
  }
  return { found };
}

/** For example `firmware push`; empty for the program itself. */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name());
  return names.join(" ");
}
