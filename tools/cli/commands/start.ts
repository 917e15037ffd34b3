import type { Command } from "commander";
import { start } from "../../tour/start.js";
import { durationOption, port } from "../usage.js";

interface StartFlags {
  for?: number;
  state?: string;
  port?: number;
  interval: number;
}

/** `mote start`: runs a local platform and a simulated device. */
export function startCommand(program: Command): void {
  program
    .command("start")
    .description("start a local platform and a device, and print its events")
    .addOption(
      durationOption(
        "--for <duration>",
        "show each capability in a tour that takes at most this time; 30s is enough",
      ),
    )
    .option("--state <dir>", "state directory of the device (default: temporary)")
    .option("--port <number>", "port of the platform (default: 8080, or any free port)", port)
    .addOption(durationOption("--interval <duration>", "time between two points", "1s"))
    .action(async (flags: StartFlags) => {
      const { for: forMs, state: stateDir, port, interval: intervalMs } = flags;
      process.exitCode = await start({ forMs, stateDir, port, intervalMs });
      // A request that is still open must not hold the process.
      process.exit();
    });
}
