import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Values } from "../../../extras/commissioning/values.js";
import { RESET, STOPPED } from "../../../hosts/node/exit.js";
import { codeOf, makeDirectory } from "../../../hosts/node/files.js";
import { Lease, LockedError } from "../../../hosts/node/lease.js";
import { checkOptions } from "../../../src/agent/options/options.js";
import { MoteError } from "../../../src/index.js";
import { commission, joined, pemOf, storedValues } from "../../run/commissioning.js";
import { agentOptions } from "../../run/drive.js";
import { hiding, Lines } from "../../run/lines.js";
import type { WorkerConfig } from "../../run/messages.js";
import { ServiceManager } from "../../run/service-manager.js";
import { supervise } from "../../run/supervisor.js";
import { connectionsOption } from "../connections.js";
import { type Stop, stopSignals } from "../stop.js";
import { certificates, durationOption, UsageError } from "../usage.js";

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
  /** PEM, of commissioning. */
  keptCa?: string | undefined;
}

const HELP = `
Either --token, or --provision-key and --provision-secret are needed. Secrets are better given by the environment: arguments
can be seen by other users of the machine.

The state directory keeps the access token, the telemetry that waits, two firmware slots and what is known of the platform.
--app puts its image in when the file differs from the last one put in; an update that came from the platform since then stays.

With --commission a page on this machine asks for what is not given, checks it by connecting, and keeps it in the state directory: the runs after it
need neither address nor secret. What the command line says comes before what was kept.

Ctrl-C stops in good order, a second one at once.

Example:
  mote run --url http://127.0.0.1:8080 --provision-key KEY --provision-secret SECRET --state ./greenhouse-7`;

export function runCommand(program: Command): void {
  program
    .command("run")
    .description("run one device against a platform, with firmware slots and a supervisor")
    .addOption(new Option("--url <url>", "of the platform, http:// or https://").env("MOTE_URL"))
    .addOption(new Option("--token <token>", "the device's access token").env("MOTE_TOKEN"))
    .addOption(new Option("--provision-key <key>", "of the device profile").env("MOTE_PROVISION_KEY"))
    .addOption(
      new Option("--provision-secret <secret>", "of the device profile").env("MOTE_PROVISION_SECRET"),
    )
    .addOption(
      new Option("--device-name <name>", "for provisioning (default: mote-<hardware id>)").env(
        "MOTE_DEVICE_NAME",
      ),
    )
    .addOption(
      new Option("--state <dir>", "what outlives a restart; made if there is none").env("MOTE_STATE"),
    )
    .addOption(new Option("--app <file>", "the firmware image (default: uptime and memory)").env("MOTE_APP"))
    .addOption(
      durationOption("--interval <duration>", "between two samples of the application", "1s").env(
        "MOTE_INTERVAL",
      ),
    )
    .option("--cycle <n>", "sleep between two samples, and connect in every n-th wake only", Number)
    .addOption(connectionsOption("3").env("MOTE_CONNECTIONS"))
    .addOption(
      new Option("--timestamps <whose>", "time stamps of telemetry")
        .env("MOTE_TIMESTAMPS")
        .choices(["device", "platform"])
        .default("device"),
    )
    .addOption(
      new Option("--log <format>", "lines for people, or one JSON object per line")
        .env("MOTE_LOG")
        .choices(["text", "json"])
        .default("text"),
    )
    .addOption(new Option("--json", "the same as --log json").implies({ log: "json" }))
    .addOption(
      new Option("--ca <file>", "certificates (PEM) to trust in place of the usual ones").env("MOTE_CA"),
    )
    .option("--exit-on-refusal", "end with exit code 3 when the platform refuses the device")
    .option(
      "--allow-http-firmware",
      "take updates over http from other machines too (anyone on the way can change them)",
    )
    .option(
      "--firmware-host <host>",
      "take updates by URL from there: files.example.com, or with its port (repeatable)",
      (host: string, before: string[]) => [...before, host],
      [],
    )
    .option("--insecure-tls", "trust any certificate: for tests, as anyone on the way reads the token")
    .option("--no-durable", "keep waiting telemetry in memory only")
    .addOption(
      new Option(
        "--commission [again]",
        "ask for the platform on a page of this machine, unless that was done; again: in any case",
      ).choices(["again"]),
    )
    .addHelpText("after", HELP)
    .action(run);
}

type Life = Stop & { manager: ServiceManager | undefined };

async function run(given: RunFlags): Promise<void> {
  const life = { ...stopSignals(), manager: ServiceManager.of(process.env, process.pid) };
  life.stop.addEventListener("abort", () => life.manager?.stopping(), { once: true });
  let code = await runOnce(given, life, false);
  while (code === RESET) code = await runOnce(given, life, true);
  process.exit(code);
}

/** An old container needs as long to stop, at most, when a new one replaces it. */
const REPLACED_MS = 60_000;

/** Until it is stopped, or reset: then other values are stored. `again`: after a reset. */
async function runOnce(given: RunFlags, life: Life, again: boolean): Promise<number> {
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
    const app = flags.app === undefined ? undefined : load("--app", flags.app);
    const { token, provisioning } = config;
    const secrets = [token, provisioning?.key, provisioning?.secret].filter((secret) => secret !== undefined);
    const lines = new Lines(process.stdout, flags.log, hiding(secrets));
    lease ??= await take(config.stateDir, flags, life);
    return await supervise({ config, app, lines, lease, again, ...life });
  } catch (error) {
    if (life.stop.aborted && error instanceof LockedError) return STOPPED;
    throw inState(error);
  } finally {
    lease?.release();
  }
}

/** Waits for another process of the state directory to stop, if it runs in another container. */
function take(stateDir: string, { log }: RunFlags, { stop }: Life): Promise<Lease> {
  const lines = new Lines(process.stdout, log, hiding([]));
  const tell = (line: string): void => lines.tell({ event: "log", level: "warn", line });
  makeDirectory(stateDir);
  return Lease.ofRun(stateDir, { tell, stop, waitMs: REPLACED_MS });
}

/** An error that is not about usage is one of the state directory. */
function inState(error: unknown): Error {
  if (error instanceof LockedError || error instanceof UsageError) return error;
  const message = error instanceof Error ? error.message : "unknown";
  return new Error(`the state directory can't be used: ${message}`, { cause: error });
}

/** The flags with stored values in their gaps, after the owner was asked if the flags say so. */
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
  const ca = flags.ca === undefined ? undefined : load("--ca", flags.ca).toString();
  const lines = new Lines(process.stdout, flags.log, hiding([]));
  const open = (page: string): void => lines.tell({ event: "commissioning", url: page });
  const done = await commission({ stateDir, lease, given, deviceName, ca, stop, open });
  if (done) lines.tell({ event: "commissioned" });
  // What the owner said last comes before what the command line said first.
  return withValues(flags, done ? joined(storedValues(stateDir, lease, url), given) : before);
}

function withValues(flags: RunFlags, { url, ca, token, key, secret }: Values): RunFlags {
  return {
    ...flags,
    url,
    token,
    provisionKey: key,
    provisionSecret: secret,
    keptCa: flags.ca === undefined ? pemOf(ca) : undefined,
  };
}

/** Throws UsageError with all that is wrong. */
function configure(flags: RunFlags): WorkerConfig {
  const { url, token, provisionKey, provisionSecret, deviceName, state } = flags;
  const wrong: string[] = [];
  if (!url) wrong.push("--url is needed (or MOTE_URL, or --commission)");
  if (!state) wrong.push("--state is needed (or MOTE_STATE)");
  if (!token && !(provisionKey && provisionSecret)) {
    wrong.push(
      "--token, or --provision-key and --provision-secret, are needed (or MOTE_TOKEN, MOTE_PROVISION_KEY, MOTE_PROVISION_SECRET, or --commission)",
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
    ca: flags.ca === undefined ? flags.keptCa : certificates("--ca", load("--ca", flags.ca).toString()),
    isCommissionedCa: flags.ca === undefined && flags.keptCa !== undefined,
    insecureTls: flags.insecureTls === true,
    allowHttpFirmware: flags.allowHttpFirmware === true,
    firmwareHosts: flags.firmwareHost,
    exitOnRefusal: flags.exitOnRefusal === true,
  };
  // The agent knows its own options best; without an identity it would only repeat what is said above.
  if (config.token || config.provisioning) wrong.push(...agentFinds(config));
  if (wrong.length > 0) throw new UsageError(wrong.join("\n       "));
  return config;
}

function agentFinds(config: WorkerConfig): string[] {
  try {
    checkOptions(agentOptions(config, { title: "any", version: "any" }));
    return [];
  } catch (error) {
    if (error instanceof MoteError) return [inOptions(error.message)];
    throw error;
  }
}

/** The agent's names of its options as those of the command line. */
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

function load(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`${option} ${path} can't be read (${codeOf(error)})`);
  }
}
