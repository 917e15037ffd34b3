import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { checkOptions } from "../../../src/agent/options.js";
import { MoteError } from "../../../src/index.js";
import { agentOptions } from "../drive.js";
import { codeOf } from "../files.js";
import { Lines } from "../lines.js";
import { LockedError } from "../lock.js";
import type { WorkerConfig } from "../messages.js";
import { supervise } from "../supervisor.js";
import { stopSignals } from "./stop.js";
import { certificates, duration, UsageError } from "./usage.js";

interface RunFlags {
  url?: string;
  token?: string;
  provisionKey?: string;
  provisionSecret?: string;
  deviceName?: string;
  state?: string;
  app?: string;
  interval: number;
  connections: "1" | "2" | "3";
  timestamps: "device" | "platform";
  log: "text" | "json";
  ca?: string;
  exitOnRefusal?: boolean;
  allowHttpFirmware?: boolean;
  durable: boolean;
}

const HELP = `
Either --token, or --provision-key and --provision-secret are needed. Secrets are better given by the environment: arguments
can be seen by other users of the machine.

The state directory keeps the access token, the telemetry that waits, two firmware slots and what is known of the platform.
--app puts its image in when the file differs from the last one put in; an update that came from the platform since then stays.

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
      new Option("--interval <duration>", "between two samples of the application: 500ms, 1s, 2m")
        .env("MOTE_INTERVAL")
        .argParser(duration)
        .default(1000, "1s"),
    )
    .addOption(
      new Option("--connections <count>", "to the platform")
        .env("MOTE_CONNECTIONS")
        .choices(["1", "2", "3"])
        .default("3"),
    )
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
    .addOption(
      new Option("--ca <file>", "certificates (PEM) to trust in place of the usual ones").env("MOTE_CA"),
    )
    .option("--exit-on-refusal", "end with exit code 3 when the platform refuses the device")
    .option(
      "--allow-http-firmware",
      "take updates over http from other machines too (anyone on the way can change them)",
    )
    .option("--no-durable", "keep waiting telemetry in memory only")
    .addHelpText("after", HELP)
    .action(run);
}

async function run(flags: RunFlags): Promise<void> {
  const config = configure(flags);
  const app = flags.app === undefined ? undefined : load("--app", flags.app);
  const { token, provisioning } = config;
  const secrets = [token, provisioning?.key, provisioning?.secret].filter((secret) => secret !== undefined);
  const lines = new Lines(process.stdout, flags.log, secrets);
  try {
    process.exit(await supervise({ config, app, lines, ...stopSignals() }));
  } catch (error) {
    if (error instanceof LockedError) throw error;
    const message = error instanceof Error ? error.message : "unknown";
    throw new Error(`the state directory can't be used: ${message}`, { cause: error });
  }
}

/** Throws UsageError with all that is wrong. */
function configure(flags: RunFlags): WorkerConfig {
  const { url, token, provisionKey, provisionSecret, deviceName, state } = flags;
  const wrong: string[] = [];
  if (!url) wrong.push("--url is needed (or MOTE_URL)");
  if (!state) wrong.push("--state is needed (or MOTE_STATE)");
  if (!token && !(provisionKey && provisionSecret)) {
    wrong.push(
      "--token, or --provision-key and --provision-secret, are needed (or MOTE_TOKEN, MOTE_PROVISION_KEY, MOTE_PROVISION_SECRET)",
    );
  }
  const provisioning = provisionKey &&
    provisionSecret && { key: provisionKey, secret: provisionSecret, deviceName };
  const config: WorkerConfig = {
    stateDir: resolve(state ?? "."),
    url: url ?? "http://none",
    token: token || undefined,
    provisioning: provisioning || undefined,
    intervalMs: flags.interval,
    connections: Number(flags.connections) as 1 | 2 | 3,
    timestamps: flags.timestamps,
    durable: flags.durable,
    ca: flags.ca === undefined ? undefined : certificates("--ca", load("--ca", flags.ca).toString()),
    allowHttpFirmware: flags.allowHttpFirmware === true,
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
    .replace("token: ", "--token: ")
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
