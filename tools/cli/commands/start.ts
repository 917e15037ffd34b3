import type { Command } from "commander";
import { start } from "../../tour/start.js";
import { durationOption, port } from "../usage.js";

interface StartFlags {
  for?: number;
  state?: string;
  port?: number;
  interval: number;
}

/** `mote start`: a local platform and an agent side by side, to look at. */
export function startCommand(program: Command): void {
  program
    .command("start")
    .description("start a local platform and an agent beside it, and show what goes on")
    .addOption(
      durationOption(
        "--for <duration>",
        "the tour: shows each capability and ends, after this time at the latest; 30s is enough",
      ),
    )
    .option("--state <dir>", "keep the agent's state there (default: a temporary directory)")
    .option("--port <number>", "of the platform (default: 8080 if it is free, otherwise any)", port)
    .addOption(durationOption("--interval <duration>", "between two points", "1s"))
    .action(async (flags: StartFlags) => {
      const { for: forMs, state: stateDir, port, interval: intervalMs } = flags;
      process.exitCode = await start({ forMs, stateDir, port, intervalMs });
      // A request that is still open must not hold the process.
      process.exit();
    });
}
