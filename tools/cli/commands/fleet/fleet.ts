import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { FAILED, INTERRUPTED, REFUSED, STOPPED } from "../../../../hosts/node/exit.js";
import { codeOf } from "../../../../hosts/node/files.js";
import { opener } from "../../../../hosts/node/sockets.js";
import { parseTarget } from "../../../../src/http/target.js";
import { Fleet } from "../../../fleet/fleet.js";
import { limitHeap } from "../../../fleet/heap-limit.js";
import { tooFewFiles } from "../../../fleet/open-files.js";
import { RpcProbe } from "../../../fleet/rpc-probe.js";
import type { Operator } from "../../../operator/operator.js";
import { connectionsOption } from "../../connections.js";
import { keptOperator, logIn } from "../../operator/operator.js";
import { Progress } from "../../output/progress.js";
import { note, out, outJson } from "../../output/table.js";
import { pause, stopSignals } from "../../stop.js";
import { certificates, count, durationOption, UsageError } from "../../usage.js";
import { type Outage, outageOf } from "./outage.js";
import { Picture, type Summary } from "./picture.js";
import { removeDevices } from "./remove.js";

interface FleetFlags {
  devices: number;
  url: string;
  connections: "1" | "2" | "3";
  interval: number;
  ramp?: number;
  for?: number;
  outage?: number;
  outageAfter?: number;
  json?: boolean;
  provisionKey?: string;
  provisionSecret?: string;
  keep?: boolean;
  rpc: number;
  ca?: string;
}

const TICK_MS = 1_000;
/** Points are kept for so long; with an outage for that and the wait behind it, which may be four times as long, and 5 min and a half at the most. */
const KEEP_MS = 30_000;
const LONGEST_WAIT_MS = 330_000;

const HELP = `
Each run makes devices of its own, named fleet-XXXXXX-0 and on, and removes them in the end, for which it needs an operator's login: that of mote
login at this URL, or MOTE_PLATFORM_USERNAME and MOTE_PLATFORM_PASSWORD. With it two-way RPCs are sent to them and timed, too. Each device keeps its
points of 30 s, and of the outage with the wait behind it. Memory is what the system counts for the process (RSS), by agent. The table is drawn
every second; at the end, and with --json, a summary is printed.

Exit code 3 if the platform refused devices, 1 if points were lost or no device came online, 130 if Ctrl-C came before --for was over. A second
Ctrl-C leaves the devices that are not removed yet.

Examples:
  mote fleet --devices 100 --url http://127.0.0.1:8080 --provision-key KEY --provision-secret SECRET
  mote fleet --devices 1000 --interval 10s --for 5m --outage 60s --json`;

export function fleetCommand(program: Command): void {
  program
    .command("fleet")
    .description("run many agents in one process against any platform, and show how they do")
    .requiredOption("--devices <number>", "how many", count)
    .addOption(new Option("--url <url>", "of the platform").env("MOTE_URL").makeOptionMandatory())
    .addOption(new Option("--provision-key <key>", "of the device profile").env("MOTE_PROVISION_KEY"))
    .addOption(
      new Option("--provision-secret <secret>", "of the device profile").env("MOTE_PROVISION_SECRET"),
    )
    .addOption(connectionsOption("3"))
    .addOption(durationOption("--interval <duration>", "between two points of a device", "1s"))
    .addOption(durationOption("--ramp <duration>", "until all have started (default: 1s for each 100)"))
    .addOption(durationOption("--for <duration>", "how long (default: until Ctrl-C)"))
    .addOption(durationOption("--outage <duration>", "cut the network once for so long"))
    .addOption(
      durationOption(
        "--outage-after <duration>",
        "when it is cut (default: after 30s, or in the middle of --for)",
      ),
    )
    .option("--keep", "leave the devices on the platform")
    .option("--rpc <number>", "RPCs a second, with an operator's login", count, 2)
    .option("--ca <file>", "certificates (PEM) to trust in place of the usual ones")
    .option("--json", "only the summary, as JSON on the standard output")
    .addHelpText("after", HELP)
    .action(run);
}

async function run(flags: FleetFlags): Promise<void> {
  limitHeap();
  const outage = outageOf(flags);
  const prefix = `fleet-${randomBytes(3).toString("hex")}-`;
  const fleet = makeFleet(flags, prefix);
  const signals = stopSignals();
  const operator = await openOperator(flags);
  const probe = operator && new RpcProbe(operator, fleet);
  const over = new AbortController();
  const stop = AbortSignal.any([signals.stop, over.signal]);
  const timers = schedule(flags.for, outage, fleet, () => over.abort());
  const picture = new Picture(fleet, probe, process.memoryUsage.rss());
  const began = performance.now();
  fleet.start();
  void probe?.run(flags.rpc, stop);
  await watch(picture, flags, stop);
  for (const timer of timers) clearTimeout(timer);
  fleet.network.restore();
  const summary = picture.summary((performance.now() - began) / 1_000);
  await fleet.stop();
  if (flags.json) outJson(summary);
  else out(`${JSON.stringify(summary)}\n`);
  if (fleet.refusal !== undefined)
    note(`${summary.refused} of ${flags.devices} devices were refused: ${fleet.refusal}`);
  const early = flags.for !== undefined && !over.signal.aborted;
  if (early) note(`interrupted after ${summary.seconds} s; the summary is of these`);
  const isRemoved = await removeDevices(
    operator,
    { prefix, made: fleet.made, keep: flags.keep },
    signals.kill,
  );
  process.exit(early ? INTERRUPTED : codeFor(summary, isRemoved));
}

function codeFor({ refused, online, dropped }: Summary, isRemoved: boolean): number {
  if (refused > 0) return REFUSED;
  return online === 0 || dropped > 0 || !isRemoved ? FAILED : STOPPED;
}

async function watch(picture: Picture, flags: FleetFlags, stop: AbortSignal): Promise<void> {
  const progress = new Progress();
  while (!stop.aborted) {
    await pause(TICK_MS, stop);
    if (flags.json) continue;
    const lines = picture.lines();
    // Where lines can't be drawn over it is one.
    progress.show(lines, [lines.join("  ")]);
  }
}

function makeFleet(flags: FleetFlags, prefix: string): Fleet {
  const { provisionKey: key, provisionSecret: secret, url, outage = 0 } = flags;
  if (!key || !secret)
    throw new UsageError(
      "--provision-key and --provision-secret are needed (or MOTE_PROVISION_KEY, MOTE_PROVISION_SECRET)",
    );
  const target = parseTarget(url);
  if (!target.ok) throw new UsageError(`--url ${target.reason}`);
  const connections = Number(flags.connections) as 1 | 2 | 3;
  const problem = tooFewFiles(flags.devices * connections);
  if (problem !== undefined) throw new UsageError(problem);
  const ca = flags.ca === undefined ? undefined : certificates("--ca", load(flags.ca));
  return new Fleet({
    devices: flags.devices,
    prefix,
    baseUrl: url,
    provisioning: { key, secret },
    connections,
    intervalMs: flags.interval,
    keepMs: KEEP_MS + outage + Math.min(LONGEST_WAIT_MS, 4 * outage),
    rampMs: flags.ramp ?? flags.devices * 10,
    open: opener({ ca }),
    // What a thousand agents have to say is in the table.
    log: () => {},
  });
}

function load(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`--ca ${path} can't be read (${codeOf(error)})`);
  }
}

/** By the environment's login, or the one that is kept for this platform. */
async function openOperator({ url }: FleetFlags): Promise<Operator | undefined> {
  const { MOTE_PLATFORM_USERNAME: username, MOTE_PLATFORM_PASSWORD: password } = process.env;
  return username && password ? logIn(url, username, password) : keptOperator(url);
}

function schedule(
  forMs: number | undefined,
  outage: Outage | undefined,
  { network }: Fleet,
  end: () => void,
): NodeJS.Timeout[] {
  const timers: NodeJS.Timeout[] = [];
  if (forMs !== undefined) timers.push(setTimeout(end, forMs));
  if (outage) {
    timers.push(setTimeout(() => network.cut(), outage.fromMs));
    timers.push(setTimeout(() => network.restore(), outage.toMs));
  }
  return timers;
}
