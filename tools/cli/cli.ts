#!/usr/bin/env node
// `mote`: one file for each command in commands/.
import { Command, CommanderError } from "commander";
import { FAILED, STOPPED, USAGE } from "../../hosts/node/exit.js";
import { codeOf } from "../../hosts/node/files.js";
import { VERSION } from "../../src/agent/common/version.js";
import { ExitError } from "./exit-error.js";
import { UsageError } from "./usage.js";

type Add = (program: Command) => void;

/** What adds a command, by its name, in the order of the help. A command that is called by its name is loaded alone: a start in half the time. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  start: async () => (await import("./commands/start.js")).startCommand,
  run: async () => (await import("./commands/run.js")).runCommand,
  platform: async () => (await import("./commands/platform.js")).platformCommand,
  new: async () => (await import("./commands/new.js")).newCommand,
  esp32: async () => (await import("./commands/esp32.js")).esp32Command,
  login: async () => (await import("./commands/login.js")).loginCommand,
  logout: async () => (await import("./commands/login.js")).logoutCommand,
  devices: async () => (await import("./commands/devices.js")).devicesCommand,
  attributes: async () => (await import("./commands/attributes.js")).attributesCommand,
  rpc: async () => (await import("./commands/rpc.js")).rpcCommand,
  telemetry: async () => (await import("./commands/telemetry.js")).telemetryCommand,
  report: async () => (await import("./commands/report.js")).reportCommand,
  firmware: async () => (await import("./commands/firmware.js")).firmwareCommand,
  watch: async () => (await import("./commands/watch.js")).watchCommand,
  fleet: async () => (await import("./commands/fleet.js")).fleetCommand,
  doctor: async () => (await import("./commands/doctor.js")).doctorCommand,
  sign: async () => (await import("./commands/sign.js")).signCommand,
};

const EXIT_CODES = `
Exit codes: 0 stopped, 1 failed, 2 wrong usage, 3 refused by the platform (a login, a right; run --exit-on-refusal),
4 the device did not answer, or its update failed, 5 the platform was busy until the deadline, 6 a report without rows,
130 a report stopped by a signal.`;

async function makeProgram(called: string | undefined): Promise<Command> {
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
  const names = called !== undefined && Object.hasOwn(COMMANDS, called) ? [called] : Object.keys(COMMANDS);
  for (const name of names) (await COMMANDS[name]!())(program);
  return program;
}

async function main(): Promise<number | undefined> {
  process.stdout.on("error", unwritten);
  process.stderr.on("error", () => {});
  try {
    await (await makeProgram(process.argv[2])).parseAsync();
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
