import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Values } from "../../../extras/commissioning/values.js";
import { makeDirectory } from "../../../hosts/node/files.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { checkOptions } from "../../../src/agent/options/options.js";
import { isMoteError } from "../../../src/index.js";
import { STOPPED } from "../../exit-codes.js";
import { commission, joined, pemOf, storedValues } from "../../run/commissioning.js";
import { agentOptions } from "../../run/drive.js";
import { hiding, Lines } from "../../run/lines.js";
import type { WorkerConfig } from "../../run/messages.js";
import { ServiceManager } from "../../run/service-manager.js";
import { type Outcome, supervise } from "../../run/supervisor.js";
import { connectionsOption } from "../connections.js";
import { type Stop, stopSignals } from "../stop.js";
import { durationOption, readCa, readInput, UsageError } from "../usage.js";

interface RunFlags {
  url?: string | undefined;
  token?: string | undefined;
  provisionKey?: string | undefined;
  provisionSecret?: string | undefined;
  deviceName?: string;
  state?: string;
  app?: string;
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
  commission?: true | "again";
  /** PEM that the owner entered on the setup page. */
  enteredCa?: string | undefined;
}

const HELP = `
Requires --token, or --provision-key and --provision-secret. Prefer environment variables for secrets: other users can see arguments.

The state directory stores the access token, queued telemetry, two firmware slots and settings. --app installs an image if the file differs from the last
installed file; a newer update from the platform stays.

--commission opens a setup page on this machine for missing settings. It checks them by connecting and saves them in the state directory. The command line
overrides saved settings.

Ctrl-C stops cleanly, a second Ctrl-C at once.

Example:
  mote run --url http://127.0.0.1:8080 --provision-key KEY --provision-secret SECRET --state ./greenhouse-7`;

export function runCommand(program: Command): void {
  program
    .command("run")
    .description("run a device, with firmware updates and a supervisor")
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
    .addOption(
      new Option(
        "--commission [again]",
        "open a setup page for missing settings; again: ignore saved ones",
      ).choices(["again"]),
    )
    .addHelpText("after", HELP)
    .action(run);
}

type Life = Stop & { manager: ServiceManager | undefined };

async function run(given: RunFlags): Promise<void> {
  const life = { ...stopSignals(), manager: ServiceManager.of(process.env, process.pid) };
  life.stop.addEventListener("abort", () => life.manager?.stopping(), { once: true });
  let outcome = await runOnce(given, life, false);
  while (outcome === "reset") outcome = await runOnce(given, life, true);
  process.exit(outcome);
}

/** Longest time that a replaced process may take to stop. */
const REPLACED_MS = 60_000;

/** Runs until a stop or a reset. `afterReset`: with other stored values. */
async function runOnce(given: RunFlags, life: Life, afterReset: boolean): Promise<Outcome> {
  const { state } = given;
  let lease: Lease | undefined;
  let flags = given;
  try {
    if (state && (given.commission || existsSync(join(state, "store")))) {
      lease = await take(resolve(state), given, life);
      flags = await commissioned(given, resolve(state), lease, life.stop);
    }
    if (life.stop.aborted) return STOPPED;
    const config = configure(flags);
    const app = flags.app === undefined ? undefined : readInput(flags.app, "--app");
    const { token, provisioning } = config;
    const secrets = [token, provisioning?.key, provisioning?.secret].filter((secret) => secret !== undefined);
    const lines = new Lines(process.stdout, flags.log, hiding(secrets));
    lease ??= await take(config.stateDir, flags, life);
    return await supervise({ config, app, lines, lease, afterReset, ...life });
  } catch (error) {
    if (life.stop.aborted && error instanceof LockedError) return STOPPED;
    throw inState(error);
  } finally {
    lease?.release();
  }
}

/** Takes the state directory. Waits for another process to stop. */
function take(stateDir: string, { log }: RunFlags, { stop }: Life): Promise<Lease> {
  const lines = new Lines(process.stdout, log, hiding([]));
  const tell = (line: string): void => lines.tell({ event: "log", level: "warn", line });
  makeDirectory(stateDir);
  return Lease.ofRun(stateDir, { tell, stop, waitMs: REPLACED_MS });
}

/** Other errors come from the state directory. */
function inState(error: unknown): Error {
  if (error instanceof LockedError || error instanceof UsageError) return error;
  const message = error instanceof Error ? error.message : "unknown";
  return new Error(`cannot use the state directory: ${message}`, { cause: error });
}

/** Completes the flags with saved settings, or asks the owner on the setup page. */
async function commissioned(
  flags: RunFlags,
  stateDir: string,
  lease: Lease,
  stop: AbortSignal,
): Promise<RunFlags> {
  const { commission: when, deviceName, url, token, provisionKey, provisionSecret } = flags;
  const given: Values = { url, token, key: provisionKey, secret: provisionSecret };
  const before = joined(given, storedValues(stateDir, lease, url));
  const isKnown = before.url && (before.token || before.key);
  if (!when || (isKnown && when !== "again")) return withValues(flags, before);
  const ca = flags.ca === undefined ? undefined : readInput(flags.ca, "--ca").toString();
  const lines = new Lines(process.stdout, flags.log, hiding([]));
  const open = (page: string): void => lines.tell({ event: "commissioning", url: page });
  const done = await commission({ stateDir, lease, given, deviceName, ca, stop, open });
  if (done) lines.tell({ event: "commissioned" });
  // The owner's answer overrides the command line.
  return withValues(flags, done ? joined(storedValues(stateDir, lease, url), given) : before);
}

function withValues(flags: RunFlags, { url, ca, token, key, secret }: Values): RunFlags {
  return {
    ...flags,
    url,
    token,
    provisionKey: key,
    provisionSecret: secret,
    enteredCa: pemOf(ca),
  };
}

/** Throws UsageError listing all problems. */
function configure(flags: RunFlags): WorkerConfig {
  const { url, token, provisionKey, provisionSecret, deviceName, state } = flags;
  const wrong: string[] = [];
  if (!url) wrong.push("missing --url (or MOTE_URL, or --commission)");
  if (!state) wrong.push("missing --state (or MOTE_STATE)");
  if (!token && !(provisionKey && provisionSecret)) {
    wrong.push(
      "missing --token, or --provision-key and --provision-secret (or MOTE_TOKEN, MOTE_PROVISION_KEY and MOTE_PROVISION_SECRET, or --commission)",
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
    enteredCa: flags.enteredCa,
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
