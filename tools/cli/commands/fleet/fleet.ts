import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { opener } from "../../../../hosts/node/sockets.js";
import { parseTarget } from "../../../../src/http/target.js";
import { FAILED, INTERRUPTED, REFUSED, STOPPED } from "../../../exit-codes.js";
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
import { count, durationOption, readCa, UsageError } from "../../usage.js";
import { type Outage, outageOf } from "./outage.js";
import { removeDevices } from "./remove.js";
import { FleetStatus, type Summary } from "./status.js";

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
/** Devices queue the points of this time, of an outage and of the back-off after it. */
const KEEP_MS = 30_000;
const LONGEST_WAIT_MS = 330_000;

const HELP = `
Creates devices fleet-XXXXXX-0, fleet-XXXXXX-1, ... and deletes them at the end. Deleting, and timing two-way RPCs, needs a saved login at this URL, or
MOTE_PLATFORM_USERNAME and MOTE_PLATFORM_PASSWORD. Each device can queue the points of 30 s and of the outage. Memory is the resident set size (RSS) of the
process, and its growth per agent. Mote updates the table every second and prints a summary at the end.

Exit code 1: points were lost or no device came online. 3: the platform refused devices. 130: Ctrl-C before the end of --for. A second Ctrl-C stops the
clean-up.

Examples:
  mote fleet --devices 100 --url http://127.0.0.1:8080 --provision-key KEY --provision-secret SECRET
  mote fleet --devices 1000 --interval 10s --for 5m --outage 60s --json`;

export function fleetCommand(program: Command): void {
  program
    .command("fleet")
    .description("run many simulated devices against a platform")
    .requiredOption("--devices <number>", "number of devices", count)
    .addOption(new Option("--url <url>", "platform URL").env("MOTE_URL").makeOptionMandatory())
    .addOption(
      new Option("--provision-key <key>", "provisioning key of the device profile").env("MOTE_PROVISION_KEY"),
    )
    .addOption(
      new Option("--provision-secret <secret>", "provisioning secret of the device profile").env(
        "MOTE_PROVISION_SECRET",
      ),
    )
    .addOption(connectionsOption("3"))
    .addOption(durationOption("--interval <duration>", "time between two points of a device", "1s"))
    .addOption(durationOption("--ramp <duration>", "time to start all devices (default: 1s per 100)"))
    .addOption(durationOption("--for <duration>", "duration of the run (default: until Ctrl-C)"))
    .addOption(durationOption("--outage <duration>", "cut the network once for this time"))
    .addOption(
      durationOption(
        "--outage-after <duration>",
        "time of the cut after the start (default: 30s, or the middle of --for)",
      ),
    )
    .option("--keep", "do not delete the devices at the end")
    .option("--rpc <number>", "RPCs per second; needs a login", count, 2)
    .option("--ca <file>", "trust only these CA certificates (PEM)")
    .option("--json", "print only the summary, as JSON")
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
  const status = new FleetStatus(fleet, probe, process.memoryUsage.rss());
  const began = performance.now();
  fleet.start();
  void probe?.run(flags.rpc, stop);
  await watch(status, flags, stop);
  for (const timer of timers) clearTimeout(timer);
  fleet.network.restore();
  const summary = status.summary((performance.now() - began) / 1_000);
  await fleet.stop();
  if (flags.json) outJson(summary);
  else out(`${JSON.stringify(summary)}\n`);
  if (fleet.refusal !== undefined)
    note(`The platform refused ${summary.refused} of ${flags.devices} devices: ${fleet.refusal}`);
  const early = flags.for !== undefined && !over.signal.aborted;
  if (early) note(`Interrupted after ${summary.seconds} s. The summary covers this time.`);
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

async function watch(status: FleetStatus, flags: FleetFlags, stop: AbortSignal): Promise<void> {
  const progress = new Progress();
  while (!stop.aborted) {
    await pause(TICK_MS, stop);
    if (flags.json) continue;
    const lines = status.lines();
    // One line where the output cannot be redrawn.
    progress.show(lines, [lines.join("  ")]);
  }
}

function makeFleet(flags: FleetFlags, prefix: string): Fleet {
  const { provisionKey: key, provisionSecret: secret, url, outage = 0 } = flags;
  if (!key || !secret)
    throw new UsageError(
      "missing --provision-key or --provision-secret (or MOTE_PROVISION_KEY, MOTE_PROVISION_SECRET)",
    );
  const target = parseTarget(url);
  if (!target.ok) throw new UsageError(`--url ${target.reason}`);
  const connections = Number(flags.connections) as 1 | 2 | 3;
  const problem = tooFewFiles(flags.devices * connections);
  if (problem !== undefined) throw new UsageError(problem);
  return new Fleet({
    devices: flags.devices,
    prefix,
    baseUrl: url,
    provisioning: { key, secret },
    connections,
    intervalMs: flags.interval,
    keepMs: KEEP_MS + outage + Math.min(LONGEST_WAIT_MS, 4 * outage),
    rampMs: flags.ramp ?? flags.devices * 10,
    open: opener({ ca: readCa(flags.ca) }),
    // The table replaces the log of the agents.
    log: () => {},
  });
}

/** Uses the login of the environment, or the saved one for this URL. */
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
