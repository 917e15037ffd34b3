// Finding one's way among commands and their subcommands.
import type { Command } from "commander";

/** The command of these names, as far as there is one, and the first name that none has. */
export function commandOf(program: Command, names: readonly string[]): { found: Command; left?: string } {
  let found = program;
  for (const name of names) {
    const next = found.commands.find((one) => one.name() === name);
    if (!next) return { found, left: name };
    found = next;
  }
  return { found };
}

/** `firmware push`; empty for the program itself. */
export function pathOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) names.unshift(one.name());
  return names.join(" ");
}
