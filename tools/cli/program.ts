// All commands of `mote`. Each has a file or folder in commands/.
import { styleText } from "node:util";
import { Command } from "commander";
import { VERSION } from "../../src/version.js";
import { commandOf, pathOf } from "./command-tree.js";
import { asCalled } from "./invocation.js";
import { colored } from "./output/colors.js";
import { reflow } from "./output/reflow.js";
import { out } from "./output/table.js";
import { UsageError } from "./usage.js";

type Add = (program: Command) => void;

/** Commands in the order of the help. Loading only the called one halves the start time. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, () => Promise<Add>>>>> = {
  Try: {
    start: async () => (await import("./commands/start.js")).startCommand,
    platform: async () => (await import("./commands/platform/platform.js")).platformCommand,
    run: async () => (await import("./commands/run.js")).runCommand,
  },
  Operate: {
    login: async () => (await import("./commands/login.js")).loginCommand,
    logout: async () => (await import("./commands/login.js")).logoutCommand,
    devices: async () => (await import("./commands/devices/devices.js")).devicesCommand,
    attributes: async () => (await import("./commands/attributes.js")).attributesCommand,
    telemetry: async () => (await import("./commands/telemetry.js")).telemetryCommand,
    rpc: async () => (await import("./commands/rpc/rpc.js")).rpcCommand,
    report: async () => (await import("./commands/report.js")).reportCommand,
  },
  Build: {
    new: async () => (await import("./commands/new/new.js")).newCommand,
    simulator: async () => (await import("../moddable/simulator/simulator-command.js")).simulatorCommand,
    esp32: async () => (await import("./commands/esp32.js")).esp32Command,
    flash: async () => (await import("./commands/flash.js")).flashCommand,
    factory: async () => (await import("./commands/factory.js")).factoryCommand,
    sign: async () => (await import("./commands/sign.js")).signCommand,
  },
  Maintain: {
    firmware: async () => (await import("./commands/firmware/firmware.js")).firmwareCommand,
    logs: async () => (await import("./commands/logs.js")).logsCommand,
    decode: async () => (await import("./commands/decode.js")).decodeCommand,
    doctor: async () => (await import("./commands/doctor.js")).doctorCommand,
  },
};
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = Object.assign({}, ...Object.values(GROUPS));

const EXIT_CODES = `
Exit codes:
  0    done, or stopped as requested
  1    failed
  2    wrong usage
  3    the platform refused the login, the permission or a device
  4    not found, no answer from the device, or its update failed
  5    the device answered an RPC with an error
  6    the report has no rows
  7    the platform stayed busy until the deadline
  8    stored state is damaged or incomplete
  9    another process uses the state directory
  74   the durable queue is unreadable or has no room
  130  interrupted (Ctrl-C)`;

const NAMES_ONLY = {
  styleTitle: (title: string): string => styleText("bold", title),
  styleSubcommandTerm: (term: string): string => styleText("cyan", term),
  subcommandTerm: (command: Command): string => command.name(),
  commandUsage: (command: Command): string => `mote ${`${pathOf(command)} ${command.usage()}`.trim()}`,
};

/** Builds the program with the called command, or with all commands. */
export async function makeProgram(called?: string): Promise<Command> {
  const program = new Command("mote")
    .description("Device agent for the ThingsBoard device HTTP API, with a local platform to try it against.")
    .version(VERSION, "-V, --version", "show the version")
    .helpOption("-h, --help", "show help for a command")
    .commandsGroup("Help:")
    .helpCommand("help [command...]", "show help for a command")
    .addHelpText("after", EXIT_CODES)
    // Fits terminals of 40 columns.
    .configureHelp({ minWidthToWrap: 12, ...NAMES_ONLY })
    .configureOutput({
      writeOut: (text) => out(reflow(asCalled(text), helpWidth())),
      writeErr: (text) => process.stderr.write(asCalled(text)),
      outputError: (text, write) => write(text.replace(/^error:/, colored("red", "error:", process.stderr))),
    })
    // `firmware push` has its own --version.
    .enablePositionalOptions()
    // Subcommands inherit this only if it is set before they are added.
    .exitOverride();
  for (const [name, add] of addersOf(called)) {
    (await add())(program);
    program.commands.at(-1)?.helpGroup(`${groupOf(name)}:`);
  }
  showUsageAfterErrors(program);
  return program;
}

/** A wrong or missing argument prints the usage line of its command. */
function showUsageAfterErrors(command: Command): void {
  const usage = command.createHelp().commandUsage(command);
  const help = `mote help ${pathOf(command)}`.trim();
  command.showHelpAfterError(`Usage: ${usage}\nDetails: ${help}`);
  for (const one of command.commands) showUsageAfterErrors(one);
}

/** Terminal width, or 80; the same default as commander's. */
const helpWidth = (): number => (process.stdout.isTTY && process.stdout.columns) || 80;

const groupOf = (name: string): string | undefined =>
  Object.keys(GROUPS).find((group) => Object.hasOwn(GROUPS[group] ?? {}, name));

function addersOf(called: string | undefined): [string, () => Promise<Add>][] {
  if (called === undefined) return Object.entries(COMMANDS);
  return Object.hasOwn(COMMANDS, called) ? [[called, COMMANDS[called]!]] : Object.entries(COMMANDS);
}

/** Runs the command that the arguments name. Throws CommanderError, UsageError or ExitError. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const [first, ...rest] = args;
  const wantsHelp = first === "help";
  const program = await makeProgram(wantsHelp ? rest[0] : first);
  if (!wantsHelp || rest.length === 0 || rest.some((word) => word.startsWith("-"))) {
    await program.parseAsync(args, { from: "user" });
    return;
  }
  const { found, left } = commandOf(program, rest);
  if (left !== undefined)
    throw new UsageError(`unknown command "${left}" (list: mote help ${pathOf(found)})`.replace(" )", ")"));
  found.outputHelp();
}
