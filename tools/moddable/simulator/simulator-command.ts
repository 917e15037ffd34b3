// `mote simulator`: runs a project or the sample application in the Moddable simulator.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { AgentOptions } from "../../../src/index.js";
import { stopSignals } from "../../cli/stop.js";
import { duration, readCa, UsageError } from "../../cli/usage.js";
import { FAILED, STOPPED } from "../../exit-codes.js";
import { type Platform, startPlatform } from "../../platform/server.js";
import { PROJECT } from "../../project.js";
import { hiding, Lines } from "../../run/lines.js";
import { runTour } from "../../tour/run-tour.js";
import { limitedBy } from "../../tour/tour.js";
import { buildProgram } from "../build.js";
import { findSimulator } from "../sdk.js";
import { SimulatedDevice, simulatedImage } from "./device.js";
import { openDisplay } from "./display.js";
import { runProject } from "./project.js";

interface Flags {
  url?: string;
  token?: string;
  provisionKey?: string;
  provisionSecret?: string;
  deviceName?: string;
  state?: string;
  interval: number;
  connections?: "1" | "2" | "3";
  ca?: string;
  headless?: boolean;
  for: number;
}

const HELP = `
Without --url, Mote starts a local platform, unless the project's manifest.json names one. A project runs until Ctrl-C and prints its events. With
--headless, the sample runs the tour, which includes an update; with --url it stops after --for. With --headless, exit code 0 means that points were
delivered and nothing crashed or, for the tour, that all of it worked.
$MODDABLE must name the SDK.

Examples:
  mote simulator ./greenhouse                    in a window
  mote simulator ./greenhouse --headless --for 20s`;

const TITLE = "sample";
const IMAGE_BYTES = 65_536;
const TOUR_MS = 180_000;
const PROGRAMS = join(PROJECT, "hosts", "simulator");

export function simulatorCommand(program: Command): void {
  program
    .command("simulator")
    .description(
      "run a project, or the sample application, in the Moddable simulator; requires the Moddable SDK",
    )
    .argument("[folder]", "project of mote new (default: the sample application)")
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
    .addOption(new Option("--ca <file>", "CA certificates to trust (PEM); required for https").env("MOTE_CA"))
    .addOption(new Option("--connections <count>", "connections to the platform").choices(["1", "2", "3"]))
    .addOption(
      new Option("--interval <duration>", "time between two samples").argParser(duration).default(1000, "1s"),
    )
    .option("--headless", "run without a window, on Xvfb, and exit with a status")
    .addOption(
      new Option("--for <duration>", "with --headless: duration of a project, or with --url")
        .argParser(duration)
        .default(60_000, "1m"),
    )
    .addHelpText("after", HELP)
    .action(async (folder: string | undefined, flags: Flags) =>
      process.exit(folder === undefined ? await run(flags) : await runFolder(folder, flags)),
    );
}

/** The application of a project decides what it records, and how often. */
async function runFolder(folder: string, flags: Flags): Promise<number> {
  const sdk = findSimulator();
  if (flags.ca !== undefined)
    throw new UsageError("--ca applies to the sample only: set config.ca in the project's manifest");
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

async function run(flags: Flags): Promise<number> {
  const sdk = findSimulator();
  const ca = readCa(flags.ca);
  const own = flags.url === undefined ? await startPlatform({ port: 0, ruleChain: true }) : undefined;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const stateDir = resolve(flags.state ?? mkdtempSync(join(tmpdir(), "mote-simulator-")));
  let display: Awaited<ReturnType<typeof openDisplay>> | undefined;
  try {
    const agent = optionsOf(flags, own);
    say("building for the simulator");
    const program = await buildProgram(
      sdk,
      join(PROGRAMS, flags.headless ? "program" : "window"),
      join(PROJECT, "dist", "simulator"),
    );
    display = await openDisplay(flags.headless === true);
    const session = { sdk, program, display: display.name, stateDir, agent, ca, say };
    if (own && flags.headless) return await tour(session, own, flags);
    return await watch(session, flags, own);
  } finally {
    display?.close();
    await own?.close();
    if (flags.state === undefined) rmSync(stateDir, { recursive: true, force: true });
  }
}

interface Session {
  readonly sdk: ReturnType<typeof findSimulator>;
  readonly program: string;
  readonly display: string;
  readonly stateDir: string;
  readonly agent: AgentOptions;
  readonly ca: string | undefined;
  say(line: string): void;
}

/** Throws UsageError. */
function optionsOf(flags: Flags, own: Platform | undefined): AgentOptions {
  const { url, token, provisionKey: key, provisionSecret: secret } = flags;
  const connections = Number(flags.connections ?? 3) as 1 | 2 | 3;
  const deviceName = flags.deviceName ?? `simulator-${randomBytes(2).toString("hex")}`;
  if (own) return { baseUrl: own.url, provisioning: { ...own.profile, deviceName }, connections };
  if (!token && !(key && secret)) {
    throw new UsageError("--url requires --token, or --provision-key and --provision-secret");
  }
  const identity = token ? { token } : { provisioning: { key: key!, secret: secret!, deviceName } };
  return { baseUrl: url!, ...identity, connections };
}

async function tour(session: Session, own: Platform, { interval: intervalMs }: Flags): Promise<number> {
  const lines: string[] = [];
  const line = (text: string): void => void lines.push(text);
  const device = new SimulatedDevice(
    { ...session, intervalMs, line, event: (event) => line(JSON.stringify(event)) },
    simulatedImage(TITLE, "1.0.0", IMAGE_BYTES),
  );
  const nextImage = join(session.stateDir, "next.bin");
  writeFileSync(nextImage, simulatedImage(TITLE, "2.0.0", IMAGE_BYTES));
  const agent = { lastStderrLine: "", start: device.start.bind(device), stop: () => device.stop() };
  const deviceName = session.agent.provisioning?.deviceName ?? "";
  const shown = { url: own.url, deviceName, intervalMs, agent, nextImage };
  const good = await runTour(shown, AbortSignal.timeout(TOUR_MS), (text) => session.say(text));
  await device.stop();
  if (!good) session.say(lines.slice(-20).join("\n"));
  return good ? STOPPED : FAILED;
}

async function watch(session: Session, flags: Flags, own: Platform | undefined): Promise<number> {
  const { token, provisioning } = session.agent;
  const secrets = [token, provisioning?.key, provisioning?.secret].filter((secret) => secret !== undefined);
  const lines = new Lines(process.stdout, "text", hiding(secrets));
  if (own) session.say(`platform ${own.url} (tenant@thingsboard.org, password tenant); Ctrl-C ends both`);
  const seen = { delivered: 0, crashes: 0 };
  const device = new SimulatedDevice(
    {
      ...session,
      intervalMs: flags.interval,
      line: (text) => lines.tell({ event: "log", level: "info", line: text }),
      event(event) {
        if (event.event === "telemetry.delivered") seen.delivered += Number(event.points);
        if (event.event === "crash") seen.crashes++;
        lines.tell(event.event === "crash" ? { ...event, retryMs: 1000 } : event);
      },
    },
    simulatedImage(TITLE, "1.0.0", IMAGE_BYTES),
  );
  const { stop } = stopSignals();
  const end = flags.headless ? limitedBy(stop, flags.for, new Error("its time is over")).signal : stop;
  const ended = device.start();
  const asked = new Promise<void>((done) => end.addEventListener("abort", () => done(), { once: true }));
  await Promise.race([asked, ended]);
  await device.stop();
  const well = seen.delivered > 0 && seen.crashes === 0;
  return flags.headless && !well ? FAILED : STOPPED;
}
