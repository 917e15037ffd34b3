import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { makeDirectory } from "../../../hosts/node/files.js";
import { LockedError, StateLock } from "../../../hosts/node/state-lock.js";
import { checkOptions } from "../../../src/agent/options.js";
import { isMoteError } from "../../../src/index.js";
import { STOPPED } from "../../exit-codes.js";
import { freePlace } from "../../platform/own-platform.js";
import { agentOptions } from "../../run/drive.js";
import { hiding, Lines } from "../../run/lines.js";
import type { WorkerConfig } from "../../run/messages.js";
import { type Bundle, bundle, isTypeScript, type Source, sourceAt } from "../../run/project/bundle.js";
import { develop } from "../../run/project/develop.js";
import { serverLine } from "../../run/project/manifest.js";
import { ServiceManager } from "../../run/service-manager.js";
import { type Outcome, supervise } from "../../run/supervisor.js";
import { connectionsOption } from "../connections.js";
import { calledAs } from "../invocation.js";
import { logInLocally } from "../operator/local-login.js";
import { type Stop, stopSignals } from "../stop.js";
import { durationOption, readCa, readInput, UsageError } from "../usage.js";

interface RunFlags {
  url?: string | undefined;
  token?: string | undefined;
  provisionKey?: string | undefined;
  provisionSecret?: string | undefined;
  deviceName?: string | undefined;
  state?: string;
  app?: string;
  bundle?: string;
  interval: number;
  cycle?: number;
  connections: "1" | "2" | "3";
  timestamps: "device" | "platform";
  log: "text" | "json";
  ca?: string;
  exitOnRefusal?: boolean;
  insecureTls?: boolean;
  allowHttpFirmware?: boolean;
  firmwareHost: readonly string[];
  durable: boolean;
}

const HELP = `
With PROGRAM, a project of mote new or a TypeScript file, Mote bundles and runs the program, and starts it again when a file changes. Unless the options or
the project's manifest name a platform, it starts a local one, and logs the command line in. State is below build/ of the project. Simulated values are in
simulated.json, which you can edit.

Without PROGRAM, it requires --token, or --provision-key and --provision-secret. Prefer environment variables for secrets: other users can see arguments.

--app installs an image if the file differs from the last installed file; a newer update from the platform stays.

Ctrl-C stops cleanly, a second Ctrl-C at once.

Examples:
  mote run ./greenhouse
  mote run --url http://127.0.0.1:8080 --provision-key KEY --provision-secret SECRET --state ./greenhouse-7`;

export function runCommand(program: Command): void {
  program
    .command("run")
    .description("run a device, with firmware updates and a supervisor")
    .argument("[program]", "project folder or TypeScript file to run")
    .addOption(new Option("--url <url>", "platform URL (http or https)").env("MOTE_URL"))
    .addOption(new Option("--token <token>", "access token of the device").env("MOTE_TOKEN"))
    .addOption(
      new Option("--provision-key <key>", "provisioning key of the device profile").env("MOTE_PROVISION_KEY"),
    )
    .addOption(
      new Option("--provision-secret <secret>", "provisioning secret of the device profile").env(
        "MOTE_PROVISION_SECRET",
      ),
    )
    .addOption(
      new Option("--device-name <name>", "name to provision (default: mote-<hardware id>)").env(
        "MOTE_DEVICE_NAME",
      ),
    )
    .addOption(
      new Option("--state <dir>", "directory for persistent state; created if missing").env("MOTE_STATE"),
    )
    .addOption(
      new Option("--app <file>", "firmware image (default: reports uptime and memory)").env("MOTE_APP"),
    )
    .option("--bundle <file>", "write the firmware image of PROGRAM to FILE, and exit")
    .addOption(durationOption("--interval <duration>", "time between two samples", "1s").env("MOTE_INTERVAL"))
    .option("--cycle <n>", "sleep between samples and connect on every n-th wake", Number)
    .addOption(connectionsOption("3").env("MOTE_CONNECTIONS"))
    .addOption(
      new Option("--timestamps <whose>", "source of telemetry time stamps")
        .env("MOTE_TIMESTAMPS")
        .choices(["device", "platform"])
        .default("device"),
    )
    .addOption(
      new Option("--log <format>", "log as text, or as one JSON object per line")
        .env("MOTE_LOG")
        .choices(["text", "json"])
        .default("text"),
    )
    .addOption(new Option("--json", "same as --log json").implies({ log: "json" }))
    .addOption(
      new Option("--ca <file>", "CA certificates (PEM) to trust instead of the public ones").env("MOTE_CA"),
    )
    .option("--exit-on-refusal", "exit with code 3 if the platform refuses the device")
    .option(
      "--allow-http-firmware",
      "accept updates over http from other machines (insecure: others can alter them)",
    )
    .option(
      "--firmware-host <host>",
      "accept updates by URL from this host[:port] (repeatable)",
      (host: string, before: string[]) => [...before, host],
      [],
    )
    .option("--insecure-tls", "accept any certificate (insecure: others can read the token)")
    .option("--no-durable", "queue telemetry in memory only")
    .addHelpText("after", HELP)
    .action((program: string | undefined, flags: RunFlags, command: Command) =>
      program === undefined ? run(flags) : runProgram(program, flags, command),
    );
}

type Life = Stop & { manager: ServiceManager | undefined };

async function run(given: RunFlags): Promise<void> {
  const life = { ...stopSignals(), manager: ServiceManager.of(process.env, process.pid) };
  life.stop.addEventListener("abort", () => life.manager?.stopping(), { once: true });
  const app = given.app === undefined ? undefined : await imageAt(given.app);
  let outcome = await runOnce(given, app, life, false);
  while (outcome === "reset") outcome = await runOnce(given, app, life, true);
  process.exit(outcome);
}

/** The image of `--app`; TypeScript is bundled. */
async function imageAt(path: string): Promise<Uint8Array> {
  return isTypeScript(path)
    ? (await bundle(sourceAt(path), { isMapped: true })).bytes
    : readInput(path, "--app");
}

/** Runs a program of the user's own until a stop. */
async function runProgram(path: string, given: RunFlags, command: Command): Promise<void> {
  if (given.app !== undefined) throw new UsageError("PROGRAM and --app exclude each other");
  const source = sourceAt(path);
  const first = await bundle(source, { isMapped: given.bundle === undefined });
  if (given.bundle !== undefined) {
    writeFileSync(given.bundle, first.bytes);
    process.stdout.write(`${given.bundle}: ${first.bytes.length} bytes\n`);
    return;
  }
  const life = { ...stopSignals(), manager: ServiceManager.of(process.env, process.pid) };
  life.stop.addEventListener("abort", () => life.manager?.stopping(), { once: true });
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) !== "default";
  const flags = withManifest(given, source, first, isGiven);
  const lines = new Lines(process.stdout, flags.log, hiding([]));
  const tell = (level: "info" | "error", line: string): void => lines.tell({ event: "log", level, line });
  const folder = join(source.folder, "build", "mote");
  const own = flags.url === undefined ? await ownPlatform(folder, tell) : undefined;
  if (flags.url !== undefined && given.url === undefined) tell("info", serverLine(flags.url));
  const name = source.name === "main" ? basename(source.folder) : source.name;
  const whole: RunFlags = {
    ...flags,
    ...(own && { ...own.flags, deviceName: flags.deviceName ?? name }),
    state: flags.state ?? own?.device ?? join(folder, "device"),
  };
  const values = join(source.folder, "simulated.json");
  process.env.MOTE_SIMULATED = values;
  tell("info", `simulated values are in ${values}: edit the file to change them`);
  const outcome = await develop({
    ...{ source, first, tell, stop: life.stop },
    run: (image, stop, again) => runOnce(whole, image, { ...life, stop }, again),
  });
  await own?.close();
  process.exit(outcome === "reset" ? STOPPED : outcome);
}

/** The manifest's configuration, where the command line says nothing else. */
function withManifest(
  flags: RunFlags,
  { isBoards }: Source,
  { config }: Bundle,
  isGiven: (name: string) => boolean,
): RunFlags {
  if (!isBoards) return flags;
  const {
    baseUrl,
    token,
    provisioning,
    intervalMs = 60_000,
    cycle,
    firmware,
  } = config as {
    baseUrl?: string;
    token?: string;
    provisioning?: { key?: string; secret?: string; deviceName?: string };
    intervalMs?: number;
    cycle?: { everyMs: number; connectEvery?: number };
    firmware?: { allowHttp?: boolean };
  };
  const sleeps = cycle && flags.cycle === undefined;
  return {
    ...flags,
    url: flags.url ?? (baseUrl || undefined),
    token: flags.token ?? (token || undefined),
    provisionKey: flags.provisionKey ?? (provisioning?.key || undefined),
    provisionSecret: flags.provisionSecret ?? (provisioning?.secret || undefined),
    deviceName: flags.deviceName ?? provisioning?.deviceName,
    ...(!isGiven("interval") && { interval: sleeps ? cycle.everyMs : intervalMs }),
    ...(sleeps && { cycle: cycle.connectEvery ?? 1 }),
    allowHttpFirmware: flags.allowHttpFirmware || firmware?.allowHttp === true,
  };
}

/**
 * A platform for this program alone. Its address is on this machine, so its password may be known.
 */
async function ownPlatform(folder: string, tell: (level: "info", line: string) => void) {
  const { startPlatform } = await import("../../platform/server.js");
  const place = await freePlace(folder);
  const platform = await startPlatform({
    port: place.port,
    ruleChain: true,
    state: { directory: place.platform },
  });
  const { url, profile } = platform;
  tell("info", `platform and console: ${url} (tenant@thingsboard.org, password tenant)`);
  tell("info", await logInLocally(url, calledAs()));
  const flags = { url, token: undefined, provisionKey: profile.key, provisionSecret: profile.secret };
  return { flags, device: place.device, close: () => platform.close() };
}

/** Longest time that a replaced process may take to stop. */
const REPLACED_MS = 60_000;

/** Runs until a stop or a reset. `afterReset`: with other stored values. */
async function runOnce(
  flags: RunFlags,
  app: Uint8Array | undefined,
  life: Life,
  afterReset: boolean,
): Promise<Outcome> {
  let lock: StateLock | undefined;
  try {
    if (life.stop.aborted) return STOPPED;
    const config = configure(flags);
    const { token, provisioning } = config;
    const secrets = [token, provisioning?.key, provisioning?.secret].filter((secret) => secret !== undefined);
    const lines = new Lines(process.stdout, flags.log, hiding(secrets));
    lock = await take(config.stateDir, flags, life);
    return await supervise({ config, app, lines, lock, afterReset, ...life });
  } catch (error) {
    if (life.stop.aborted && error instanceof LockedError) return STOPPED;
    throw inState(error);
  } finally {
    lock?.release();
  }
}

/** Takes the state directory. Waits for another process to stop. */
function take(stateDir: string, flags: RunFlags, { stop }: Life): Promise<StateLock> {
  const lines = new Lines(process.stdout, flags.log, hiding([]));
  const tell = (line: string): void => lines.tell({ event: "log", level: "warn", line });
  makeDirectory(stateDir);
  return StateLock.ofRun(stateDir, { tell, stop, waitMs: REPLACED_MS });
}

/** Other errors come from the state directory. */
function inState(error: unknown): Error {
  if (error instanceof LockedError || error instanceof UsageError) return error;
  const message = error instanceof Error ? error.message : "unknown";
  return new Error(`cannot use the state directory: ${message}`, { cause: error });
}

/** Throws UsageError listing all problems. */
function configure(flags: RunFlags): WorkerConfig {
  const { url, token, provisionKey, provisionSecret, deviceName, state } = flags;
  const wrong: string[] = [];
  if (!url) wrong.push("missing --url (or MOTE_URL)");
  if (!state) wrong.push("missing --state (or MOTE_STATE)");
  if (flags.bundle !== undefined) wrong.push("--bundle needs a program: mote run PROGRAM --bundle FILE");
  if (!token && !(provisionKey && provisionSecret)) {
    wrong.push(
      "missing --token, or --provision-key and --provision-secret (or MOTE_TOKEN, MOTE_PROVISION_KEY and MOTE_PROVISION_SECRET)",
    );
  }
  const provisioning = provisionKey &&
    provisionSecret && { key: provisionKey, secret: provisionSecret, deviceName };
  const config: WorkerConfig = {
    stateDir: resolve(state ?? "."),
    url: url ?? "http://none",
    ...{ token: token || undefined, provisioning: provisioning || undefined },
    intervalMs: flags.interval,
    cycle: flags.cycle,
    connections: Number(flags.connections) as 1 | 2 | 3,
    timestamps: flags.timestamps,
    durable: flags.durable,
    ca: readCa(flags.ca),
    insecureTls: flags.insecureTls === true,
    allowHttpFirmware: flags.allowHttpFirmware === true,
    firmwareHosts: flags.firmwareHost,
    exitOnRefusal: flags.exitOnRefusal === true,
  };
  // The agent checks the other options. Without an identity it would repeat the errors above.
  if (config.token || config.provisioning) wrong.push(...agentFinds(config));
  if (wrong.length > 0) throw new UsageError(wrong.join("\n       "));
  return config;
}

function agentFinds(config: WorkerConfig): string[] {
  try {
    checkOptions(agentOptions(config, { title: "any", version: "any" }));
    return [];
  } catch (error) {
    if (isMoteError(error)) return [inOptions(error.message)];
    throw error;
  }
}

/** Replaces the agent's option names by those of the command line. */
function inOptions(message: string): string {
  return message
    .replace("baseUrl", "--url")
    .replace("cycle.connectEvery", "--cycle")
    .replace("cycle.everyMs", "with --cycle --interval, in ms,")
    .replace("token: ", "--token: ")
    .replace("firmware.urlHosts", "--firmware-host")
    .replace("provisioning.key", "--provision-key")
    .replace("provisioning.secret", "--provision-secret")
    .replace("provisioning.deviceName", "--device-name");
}
