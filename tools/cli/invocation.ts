import { basename, relative, sep } from "node:path";

/**
 * The command to show in examples, as the user can type it: `mote`, `npx mote-cli`, `node
 * dist/...`.
 */
export function calledAs(script = process.argv[1] ?? "", env: NodeJS.ProcessEnv = process.env): string {
  const name = basename(script).replace(/\.(?:cmd|ps1)$/, "");
  if (name === "mote" || name === "mote-cli")
    return script.includes(`${sep}node_modules${sep}.bin${sep}`) ? `npx ${name}` : name;
  // npm runs a script of the clone, where npx finds the command.
  return name !== "cli.js" || env.npm_command !== undefined
    ? "npx mote-cli"
    : `node ${relative(process.cwd(), script)}`;
}

const COMMANDS =
  "start|platform|run|login|logout|devices|attributes|telemetry|rpc|report|new|simulator|esp32|flash|factory|sign|firmware|logs|decode|doctor|help";
const HINT = new RegExp(`(?<![\\w./@-])mote (?=(?:${COMMANDS})\\b)`, "g");

/** Replaces `mote COMMAND` in a message or help text by the command as it was called. */
export const asCalled = (text: string, called = calledAs()): string => text.replace(HINT, () => `${called} `);
