// All commands of `mote`: one file, or folder, for each in commands/.
import { Command } from "commander";
import { VERSION } from "../../src/version.js";
import { commandOf, pathOf } from "./command-tree.js";
import { applyDefaults } from "./defaults.js";
import { reflow } from "./output/reflow.js";
import { out } from "./output/table.js";
import { UsageError } from "./usage.js";

/** Some commands look at all the others. */
type Add = (program: Command, makeProgram: (called?: string) => Promise<Command>) => void;

/** What adds a command, by its name, in the order of the help. A command that is called by its name is loaded alone: a start in half the time. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  start: async () => (await import("./commands/start.js")).startCommand,
  run: async () => (await import("./commands/run.js")).runCommand,
  platform: async () => (await import("./commands/platform/platform.js")).platformCommand,
  new: async () => (await import("./commands/new/new.js")).newCommand,
  simulator: async () => (await import("../moddable/simulator/simulator-command.js")).simulatorCommand,
  esp32: async () => (await import("./commands/esp32.js")).esp32Command,
  flash: async () => (await import("./commands/flash.js")).flashCommand,
  factory: async () => (await import("./commands/factory.js")).factoryCommand,
  login: async () => (await import("./commands/login.js")).loginCommand,
  logout: async () => (await import("./commands/login.js")).logoutCommand,
  whoami: async () => (await import("./commands/whoami.js")).whoamiCommand,
  config: async () => (await import("./commands/config.js")).configCommand,
  devices: async () => (await import("./commands/devices/devices.js")).devicesCommand,
  attributes: async () => (await import("./commands/attributes.js")).attributesCommand,
  rpc: async () => (await import("./commands/rpc/rpc.js")).rpcCommand,
  telemetry: async () => (await import("./commands/telemetry.js")).telemetryCommand,
  report: async () => (await import("./commands/report.js")).reportCommand,
  firmware: async () => (await import("./commands/firmware/firmware.js")).firmwareCommand,
  trust: async () => (await import("./commands/trust/trust.js")).trustCommand,
  profiles: async () => (await import("./commands/profiles.js")).profilesCommand,
  watch: async () => (await import("./commands/watch.js")).watchCommand,
  logs: async () => (await import("./commands/logs.js")).logsCommand,
  decode: async () => (await import("./commands/decode.js")).decodeCommand,
  fleet: async () => (await import("./commands/fleet/fleet.js")).fleetCommand,
  doctor: async () => (await import("./commands/doctor.js")).doctorCommand,
  sign: async () => (await import("./commands/sign.js")).signCommand,
  completion: async () => (await import("./commands/completion.js")).completionCommand,
};

/** Not in the help: what the shell asks. */
const HIDDEN: typeof COMMANDS = {
  complete: async () => (await import("./commands/completion.js")).completeCommand,
};

const EXIT_CODES = `
Exit codes: 0 done, or stopped as asked, 1 failed, 2 wrong usage, 3 refused by the platform (a login, a right; devices of a fleet;
run --exit-on-refusal), 4 there is no such device, it did not answer, or its update failed, 5 the device answered an RPC with an error,
6 a report without rows, 7 the platform was busy until the deadline, 8 stored state is damaged or
incomplete, 9 another process uses the state directory, 74 the durable queue can't be read or has no room, 130 interrupted (Ctrl-C) before it was done.`;

/** With the command that is called, or with all. */
export async function makeProgram(called?: string): Promise<Command> {
  const program = new Command("mote")
    .description("A device agent for the ThingsBoard device HTTP API, and a platform to try it against.")
    .version(VERSION, "-V, --version", "show the version")
    .helpOption("-h, --help", "show the help of a command")
    .helpCommand("help [command...]", "show the help of a command")
    .addHelpText("after", EXIT_CODES)
    // In a terminal of 40 columns too.
    .configureHelp({ minWidthToWrap: 12 })
    .configureOutput({ writeOut: (text) => out(reflow(text, helpWidth())) })
    // `firmware push` has a --version of its own.
    .enablePositionalOptions()
    // Before the commands are added: they take this over.
    .exitOverride();
  for (const add of addersOf(called)) (await add())(program, makeProgram);
  return program;
}

/** As commander's own: that of the terminal, or 80. */
const helpWidth = (): number => (process.stdout.isTTY && process.stdout.columns) || 80;

function addersOf(called: string | undefined): (() => Promise<Add>)[] {
  if (called === undefined) return Object.values(COMMANDS);
  if (Object.hasOwn(COMMANDS, called)) return [COMMANDS[called]!];
  return Object.hasOwn(HIDDEN, called) ? [HIDDEN[called]!] : Object.values(COMMANDS);
}

/** Does what the arguments say. Throws CommanderError, UsageError, ExitError. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const [first, ...rest] = args;
  const wantsHelp = first === "help";
  const program = await makeProgram(wantsHelp ? rest[0] : first);
  if (!wantsHelp || rest.length === 0 || rest.some((word) => word.startsWith("-"))) {
    applyDefaults(program);
    await program.parseAsync(args, { from: "user" });
    return;
  }
  const { found, left } = commandOf(program, rest);
  if (left !== undefined)
    throw new UsageError(`${found.name()} has no command ${left}: mote help ${pathOf(found)}`.trim());
  found.outputHelp();
}
