import { homedir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
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
    .addOption(
      new Option(
        "--state <dir>",
        "state directory (default: mote/start in $XDG_STATE_HOME or ~/.local/state)",
      ).conflicts("for"),
    )
    .option("--port <number>", "port of the platform (default: the first free one from 8080)", port)
    .addOption(durationOption("--interval <duration>", "time between two points", "1s"))
    .action(async (flags: StartFlags) => {
      const { for: forMs, state, port, interval: intervalMs } = flags;
      const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
      // A port that changes with each start is of no use to a device that kept its platform's
      // address.
      const isKept = forMs === undefined && (state !== undefined || port !== 0);
      const folder = isKept ? (state ?? join(base, "mote", "start")) : undefined;
      process.exitCode = await start({ forMs, folder, port, intervalMs });
      // A request that is still open must not hold the process.
      process.exit();
    });
}
