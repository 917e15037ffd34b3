import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RecordableHistogram } from "node:perf_hooks";
import { type Command, Option } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { opener } from "../../../hosts/node/sockets.js";
import { parseTarget } from "../../../src/net/target.js";
import { type Count, Fleet } from "../../fleet/fleet.js";
import { limitHeap } from "../../fleet/heap-limit.js";
import { tooFewFiles } from "../../fleet/open-files.js";
import { RpcProbe } from "../../fleet/rpc-probe.js";
import { logIn } from "../operator/operator.js";
import { Progress } from "../output/progress.js";
import { note, out, outJson } from "../output/table.js";
import { stopSignals } from "../stop.js";
import { certificates, count, duration, UsageError } from "../usage.js";

interface FleetFlags {
  devices: number;
  url: string;
  provisionKey?: string;
  provisionSecret?: string;
  connections: "1" | "2" | "3";
  interval: number;
  ramp?: number;
  for?: number;
  outage?: number;
  outageAfter: number;
  rpc: number;
  ca?: string;
  json?: boolean;
}

const TICK_MS = 1_000;
/** Points are kept for so long; with an outage for that and the wait behind it, which may be four times as long, and 5 min and a half at the most. */
const KEEP_MS = 30_000;
const LONGEST_WAIT_MS = 330_000;

const HELP = `
Each run makes devices of its own, named fleet-XXXXXX-0 and on. With an operator's login in the environment (MOTE_PLATFORM_USERNAME,
MOTE_PLATFORM_PASSWORD) two-way RPCs are sent to them and timed. Each device keeps its points of 30 s, and of the outage with the wait behind it.
Memory is what the system counts for the process (RSS), by agent. The table is drawn every second; at the end, and with --json, a summary is
printed. Exit code 1 if points were lost or no device came online.

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
    .addOption(new Option("--connections <count>", "of each").choices(["1", "2", "3"]).default("2"))
    .option("--interval <duration>", "between two points of a device", duration, 1_000)
    .option("--ramp <duration>", "until all have started (default: 1s for each 100)", duration)
    .option("--for <duration>", "how long (default: until Ctrl-C)", duration)
    .option("--outage <duration>", "cut the network once for so long", duration)
    .option("--outage-after <duration>", "when it is cut", duration, 30_000)
    .option("--rpc <number>", "RPCs a second, with an operator's login", count, 2)
    .option("--ca <file>", "certificates (PEM) to trust in place of the usual ones")
    .option("--json", "only the summary, as JSON on the standard output")
    .addHelpText("after", HELP)
    .action(run);
}

async function run(flags: FleetFlags): Promise<void> {
  limitHeap();
  const fleet = makeFleet(flags);
  const stop = new AbortController();
  const asked = stopSignals().stop;
  asked.addEventListener("abort", () => stop.abort());
  const probe = await makeProbe(flags, fleet);
  const timers = schedule(flags, fleet, () => stop.abort());
  const before = process.memoryUsage.rss();
  const picture = new Picture(fleet, probe, before);
  const progress = new Progress();
  const began = performance.now();
  fleet.start();
  void probe?.run(flags.rpc, stop.signal);
  while (!stop.signal.aborted) {
    await tick(stop.signal);
    if (flags.json) continue;
    const lines = picture.lines();
    // Where lines can't be drawn over it is one.
    progress.show(lines, [lines.join("  ")]);
  }
  for (const timer of timers) clearTimeout(timer);
  fleet.network.restore();
  const summary = picture.summary((performance.now() - began) / 1_000);
  await fleet.stop();
  if (flags.json) outJson(summary);
  else out(`${JSON.stringify(summary)}\n`);
  if (fleet.refused !== undefined) note(`A device was refused: ${fleet.refused}`);
  process.exit(summary.online === 0 || summary.dropped > 0 ? 1 : 0);
}

function makeFleet(flags: FleetFlags): Fleet {
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
    prefix: `fleet-${randomBytes(3).toString("hex")}-`,
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

async function makeProbe({ url }: FleetFlags, fleet: Fleet): Promise<RpcProbe | undefined> {
  const { MOTE_PLATFORM_USERNAME: username, MOTE_PLATFORM_PASSWORD: password } = process.env;
  if (!username || !password) return undefined;
  return new RpcProbe(await logIn(url, username, password), fleet);
}

function schedule(flags: FleetFlags, { network }: Fleet, end: () => void): NodeJS.Timeout[] {
  const timers: NodeJS.Timeout[] = [];
  if (flags.for !== undefined) timers.push(setTimeout(end, flags.for));
  if (flags.outage !== undefined) {
    timers.push(setTimeout(() => network.cut(), flags.outageAfter));
    timers.push(setTimeout(() => network.restore(), flags.outageAfter + flags.outage));
  }
  return timers;
}

function tick(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, TICK_MS);
    stop.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

interface Summary extends Count {
  seconds: number;
  pointsPerSecond: number;
  waiting: number;
  rpcs: number;
  rpcsFailed: number;
  rpcP50Ms: number | null;
  rpcP99Ms: number | null;
  /** Memory of the process above what it had before the first agent started, by agent. */
  kibPerAgent: number;
}

/** What is shown: now, and in the end. */
class Picture {
  readonly #fleet: Fleet;
  readonly #probe: RpcProbe | undefined;
  readonly #before: number;
  #last = 0;
  #at = performance.now();

  constructor(fleet: Fleet, probe: RpcProbe | undefined, before: number) {
    this.#fleet = fleet;
    this.#probe = probe;
    this.#before = before;
  }

  lines(): string[] {
    const { devices, started, online, connections, retries, recorded, delivered, dropped } =
      this.#fleet.count();
    return [
      `devices ${devices}  started ${started}  online ${online}  connections ${connections}  broken ${retries}`,
      `points/s ${this.#rate(delivered)}  delivered ${delivered}  waiting ${recorded - delivered - dropped}  dropped ${dropped}`,
      `RPC ${this.#latency()}`,
      `memory per agent ${this.#kib(devices)} KiB`,
    ];
  }

  summary(seconds: number): Summary {
    const counted = this.#fleet.count();
    const times = this.#probe?.times;
    return {
      ...counted,
      seconds: Math.round(seconds),
      pointsPerSecond: Math.round(counted.delivered / seconds),
      waiting: counted.recorded - counted.delivered - counted.dropped,
      rpcs: times?.count ?? 0,
      rpcsFailed: this.#probe?.failed ?? 0,
      rpcP50Ms: percentile(times, 50),
      rpcP99Ms: percentile(times, 99),
      kibPerAgent: this.#kib(counted.devices),
    };
  }

  #rate(delivered: number): number {
    const now = performance.now();
    const rate = ((delivered - this.#last) * 1_000) / (now - this.#at);
    this.#last = delivered;
    this.#at = now;
    return Math.round(rate);
  }

  #latency(): string {
    if (!this.#probe) return "not asked for (no operator's login in the environment)";
    const { times, failed } = this.#probe;
    return `p50 ${percentile(times, 50) ?? "-"} ms  p99 ${percentile(times, 99) ?? "-"} ms  failed ${failed}`;
  }

  #kib(devices: number): number {
    return Math.max(0, Math.round((process.memoryUsage.rss() - this.#before) / 1024 / devices));
  }
}

/** Of microseconds, in milliseconds; null if there were none. */
function percentile(times: RecordableHistogram | undefined, percent: number): number | null {
  return times?.count ? Math.round(times.percentile(percent) / 100) / 10 : null;
}
