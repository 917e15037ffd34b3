import { type Command, InvalidArgumentError, Option } from "commander";
import { start } from "../../desk/start.js";

interface StartFlags {
  for?: number;
  state?: string;
  port?: number;
  as: "documented" | "deployed";
  interval: string;
}

/** `mote start`: a stand-in and an agent side by side, to look at. */
export function startCommand(program: Command): void {
  program
    .command("start")
    .description("start a stand-in for the platform and an agent beside it, and show what goes on")
    .option(
      "--for <duration>",
      "the tour: shows each capability and ends, after this time at the latest (30s)",
      duration,
    )
    .option("--state <dir>", "keep the agent's state there (default: a temporary directory)")
    .option("--port <number>", "of the platform (default: 8080 if it is free, otherwise any)", portNumber)
    .addOption(
      new Option("--as <mode>", "how the platform answers")
        .choices(["documented", "deployed"])
        .default("documented"),
    )
    .option("--interval <duration>", "between two points", "1s")
    .action(async (flags: StartFlags) => {
      const { state, port, as, interval } = flags;
      process.exitCode = await start({ forMs: flags.for, stateDir: state, port, as, interval });
      // A request that is still open must not hold the process.
      process.exit();
    });
}

function duration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text);
  const ms = Number(found?.[1]) * { ms: 1, s: 1_000, m: 60_000 }[found?.[2] as "ms" | "s" | "m"];
  if (!(ms > 0 && ms <= 3_600_000)) throw new InvalidArgumentError("A duration such as 30s, 1 hour at most.");
  return ms;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}
