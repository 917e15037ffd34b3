#!/usr/bin/env node
// `mote`: one file for each command in commands/.
import { Command, CommanderError } from "commander";
import { VERSION } from "../../src/index.js";
import { attributesCommand } from "./commands/attributes.js";
import { devicesCommand } from "./commands/devices.js";
import { doctorCommand } from "./commands/doctor.js";
import { esp32Command } from "./commands/esp32.js";
import { firmwareCommand } from "./commands/firmware.js";
import { fleetCommand } from "./commands/fleet.js";
import { loginCommands } from "./commands/login.js";
import { newCommand } from "./commands/new.js";
import { platformCommand } from "./commands/platform.js";
import { reportCommand } from "./commands/report.js";
import { rpcCommand } from "./commands/rpc.js";
import { runCommand } from "./commands/run.js";
import { signCommand } from "./commands/sign.js";
import { startCommand } from "./commands/start.js";
import { telemetryCommand } from "./commands/telemetry.js";
import { UsageError } from "./commands/usage.js";
import { watchCommand } from "./commands/watch.js";
import { FAILED, STOPPED, USAGE } from "./exit.js";
import { codeOf } from "./files.js";
import { ExitError } from "./operate/operate.js";

const EXIT_CODES = `
Exit codes: 0 stopped, 1 failed, 2 wrong usage, 3 refused by the platform (a login, a right; run --exit-on-refusal),
4 the device did not answer, or its update failed, 5 the platform was busy until the deadline, 6 a report without rows,
130 a report stopped by a signal.`;

export function makeProgram(): Command {
  const program = new Command("mote")
    .description("A device agent for the ThingsBoard device HTTP API, and a platform to try it against.")
    .version(VERSION, "-V, --version", "show the version")
    .helpOption("-h, --help", "show the help of a command")
    .helpCommand("help [command]", "show the help of a command")
    .addHelpText("after", EXIT_CODES)
    // `firmware push` has a --version of its own.
    .enablePositionalOptions()
    // Before the commands are added: they take this over.
    .exitOverride();
  startCommand(program);
  runCommand(program);
  platformCommand(program);
  newCommand(program);
  esp32Command(program);
  loginCommands(program);
  devicesCommand(program);
  attributesCommand(program);
  rpcCommand(program);
  telemetryCommand(program);
  reportCommand(program);
  firmwareCommand(program);
  watchCommand(program);
  fleetCommand(program);
  doctorCommand(program);
  signCommand(program);
  return program;
}

async function main(): Promise<number | undefined> {
  process.stdout.on("error", unwritten);
  process.stderr.on("error", () => {});
  try {
    await makeProgram().parseAsync();
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? STOPPED : USAGE;
    process.stderr.write(`error: ${error instanceof Error ? error.message : "unknown"}\n`);
    if (error instanceof ExitError) return error.code;
    return error instanceof UsageError ? USAGE : FAILED;
  }
}

/** A reader that went away (`mote run | head`) is no reason to fall over; a full disk is one to say that something is missing. */
function unwritten(error: Error): void {
  if (codeOf(error) === "EPIPE" || process.exitCode === FAILED) return;
  process.exitCode = FAILED;
  process.stderr.write(`error: the standard output can't be written (${codeOf(error)})\n`);
}

const code = await main();
if (code !== undefined) process.exitCode = process.exitCode || code;
