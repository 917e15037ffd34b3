// `mote simulator`: runs a project in the Moddable simulator.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { stopSignals } from "../../cli/stop.js";
import { duration, UsageError } from "../../cli/usage.js";
import { findSimulator } from "../sdk.js";
import { type ProjectFlags, runProject } from "./project.js";

interface Flags extends ProjectFlags {
  state?: string;
  for: number;
}

const HELP = `
Without --url, Mote starts a local platform, unless the project's manifest.json names one. The project runs until Ctrl-C and prints its events. With
--headless, it runs for --for, and exit code 0 means that points were delivered. $MODDABLE must name the SDK.

Examples:
  mote simulator ./greenhouse                    in a window
  mote simulator ./greenhouse --headless --for 20s`;

export function simulatorCommand(program: Command): void {
  program
    .command("simulator")
    .description("run a project in the Moddable simulator; requires the Moddable SDK")
    .argument("[folder]", "project of mote new", ".")
    .addOption(new Option("--url <url>", "platform URL (default: a local platform)").env("MOTE_URL"))
    .addOption(new Option("--token <token>", "access token of the device").env("MOTE_TOKEN"))
    .addOption(
      new Option("--provision-key <key>", "provisioning key of the device profile").env("MOTE_PROVISION_KEY"),
    )
    .addOption(
      new Option("--provision-secret <secret>", "provisioning secret of the device profile").env(
        "MOTE_PROVISION_SECRET",
      ),
    )
    .addOption(new Option("--device-name <name>", "name to provision").env("MOTE_DEVICE_NAME"))
    .addOption(
      new Option("--state <dir>", "directory for persistent state (default: temporary)").env("MOTE_STATE"),
    )
    .option("--headless", "run without a window, on Xvfb, and exit with a status")
    .addOption(
      new Option("--for <duration>", "with --headless: how long to run")
        .argParser(duration)
        .default(60_000, "1m"),
    )
    .addHelpText("after", HELP)
    .action(async (folder: string, flags: Flags) => process.exit(await run(folder, flags)));
}

async function run(folder: string, flags: Flags): Promise<number> {
  const sdk = findSimulator();
  if ((flags.provisionKey === undefined) !== (flags.provisionSecret === undefined))
    throw new UsageError("--provision-key and --provision-secret require each other");
  const stateDir = resolve(flags.state ?? mkdtempSync(join(tmpdir(), "mote-simulator-")));
  const { stop } = stopSignals();
  try {
    return await runProject(sdk, folder, stateDir, flags, stop, flags.headless ? flags.for : undefined);
  } finally {
    if (flags.state === undefined) rmSync(stateDir, { recursive: true, force: true });
  }
}
