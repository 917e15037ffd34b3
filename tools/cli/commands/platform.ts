import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { type Command, InvalidArgumentError, Option } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { RATE_LIMITS, type RateLimit, TokenBucket } from "../../platform/core/rate-limits.js";
import type { TableView } from "../../platform/core/reports/table-views.js";
import { plain } from "../output/table.js";
import { stopSignals } from "../stop.js";
import { certificates, duration, port, UsageError } from "../usage.js";

interface PlatformFlags {
  port: number;
  host: string;
  as: "documented" | "deployed";
  tlsCert?: string;
  tlsKey?: string;
  asyncCap?: number;
  requestTimeout?: number;
  lag?: number;
  rateLimit?: Partial<Record<RateLimit, string>>;
  behindProxy?: true;
  views?: string;
  reportTime?: number;
  log: "text" | "json";
}

const HELP = `
The device API under /api/v1, and of the platform's REST what an operator needs, on its real paths. State is in memory and goes with it.
The provisioning key and secret are made up at each start unless MOTE_PROVISION_KEY and MOTE_PROVISION_SECRET are set.
It listens on this machine only; --host 0.0.0.0 opens it, with well-known passwords, to the network.

--rate-limit takes a name and one or more limits, and may be given again: device-points=100:1,3000:60 lets each device send 100 data points
a second and 3,000 a minute. Names: ${RATE_LIMITS.join(", ")}.

Reports of saved table views are built at POST /apiAnalytics/publicApi/buildReport; --views FILE replaces the one view over all devices (the file
is described in tools/platform/core/reports/table-views.ts). As on a real server SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE (10) of them run and
SIMPLE_API_RATE_LIMITER_QUEUE_CAPACITY (10) wait; --report-time says how long one takes at least.

Faults (delays, resets, lost answers and others) are switched on by POST /api/faults from this machine; the requests of devices are listed at
GET /api/requests.

Examples:
  mote platform --port 8080 --as deployed
  mote platform --as deployed --async-cap 5s --lag 50ms --rate-limit device-messages=20:1`;

export function platformCommand(program: Command): void {
  program
    .command("platform")
    .description("run a stand-in for the platform on this machine")
    .addOption(new Option("--port <port>", "0: any free one").argParser(port).default(8080))
    .option("--host <address>", "to listen on", "127.0.0.1")
    .addOption(
      new Option("--as <mode>", "statuses as in the documentation, or as a real server sends them")
        .choices(["documented", "deployed"])
        .default("documented"),
    )
    .addOption(
      new Option("--async-cap <time>", "when open requests end with 503 (as deployed: 30s)").argParser(
        duration,
      ),
    )
    .addOption(
      new Option("--request-timeout <time>", "when they end with 408 if they don't say (60s)").argParser(
        duration,
      ),
    )
    .addOption(new Option("--lag <time>", "from the 200 until the data is stored").argParser(duration))
    .addOption(new Option("--rate-limit <name=limit>", "what devices may send (see below)").argParser(limit))
    .option("--behind-proxy", "end open requests after 50s with a proxy's 504")
    .option("--views <file>", "saved table views (JSON)")
    .addOption(new Option("--report-time <time>", "how long a report takes at least").argParser(duration))
    .option("--tls-cert <file>", "certificate (PEM): https in place of http")
    .option("--tls-key <file>", "its key (PEM)")
    .addOption(
      new Option("--log <format>", "lines for people, or one JSON object per line")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText("after", HELP)
    .action(platform);
}

async function platform(flags: PlatformFlags): Promise<void> {
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key are needed together");
  }
  const { MOTE_PROVISION_KEY: key, MOTE_PROVISION_SECRET: secret } = process.env;
  const given = key && secret ? { key, secret } : undefined;
  const { stop, kill } = stopSignals();
  // Only this command pays for loading the server.
  const { startPlatform } = await import("../../platform/server.js");
  const { tlsCert, tlsKey } = certificate(flags);
  const views = flags.views === undefined ? undefined : await savedViews(flags.views);
  const running = await startPlatform({
    port: flags.port,
    host: flags.host,
    as: flags.as,
    ...(tlsCert !== undefined && { tlsCert }),
    ...(tlsKey !== undefined && { tlsKey }),
    ...(flags.asyncCap !== undefined && { asyncCapMs: flags.asyncCap }),
    ...(flags.requestTimeout !== undefined && { requestTimeoutMs: flags.requestTimeout }),
    ...(flags.lag !== undefined && { lagMs: flags.lag }),
    ...(flags.rateLimit && { rateLimits: flags.rateLimit }),
    behindProxy: flags.behindProxy === true,
    ...(views && { views }),
    ...(flags.reportTime !== undefined && { reportMs: flags.reportTime }),
    reportPool: {
      ...setting("SIMPLE_API_RATE_LIMITER_QUEUE_CAPACITY", "queueCapacity", 0),
      ...setting("SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE", "threadPoolSize", 1),
    },
    ...(given && { profile: given }),
    log: (line) => void process.stderr.write(`${line}\n`),
  });
  // The address first: it is what everybody looks for.
  const tell = given === undefined;
  const saved = running.views.list().map(({ id, name }) => ({ id, name }));
  const lines =
    flags.log === "json"
      ? [listening(running, tell, saved)]
      : [...greeting(running, flags, tell), ...saved.map(viewLine), "Ctrl-C stops it."];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener("abort", resolve));
  // As a server does: polls run to their end. Who asks again does not want to wait.
  const killed = new Promise<void>((resolve) => kill.addEventListener("abort", () => resolve()));
  await Promise.race([flags.as === "deployed" ? running.drain() : running.close(), killed]);
  process.exit(0);
}

/** `device-points=100:1,3000:60`, added to what was given before. For commander. */
function limit(text: string, before: PlatformFlags["rateLimit"]): PlatformFlags["rateLimit"] {
  const [name, spec = ""] = text.split("=", 2);
  const known = RATE_LIMITS.find((one) => one === name);
  if (!known) throw new InvalidArgumentError(`It begins with one of ${RATE_LIMITS.join(", ")} and =.`);
  try {
    new TokenBucket(spec, { now: () => 0, timer: () => () => {} });
  } catch {
    throw new InvalidArgumentError("The limit is tokens:seconds, with commas between several: 20:1,600:60.");
  }
  return { ...before, [known]: spec };
}

/** Certificate and key, tried out before anything starts. */
function certificate({ tlsCert, tlsKey }: PlatformFlags): { tlsCert?: string; tlsKey?: string } {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  const pems = { tlsCert: load("--tls-cert", tlsCert), tlsKey: load("--tls-key", tlsKey) };
  certificates("--tls-cert", pems.tlsCert);
  try {
    createSecureContext({ cert: pems.tlsCert, key: pems.tlsKey });
  } catch {
    throw new UsageError(
      "--tls-key holds no key (PEM, without a passphrase) that fits the certificate of --tls-cert",
    );
  }
  return pems;
}

interface Saved {
  id: string;
  name: string;
}

interface Running {
  url: string;
  profile: { key: string; secret: string };
}

/** Who gave the key and the secret knows them: they are not repeated. */
function listening({ url, profile }: Running, tell: boolean, views: readonly Saved[]): string {
  const keys = tell && { provisionKey: profile.key, provisionSecret: profile.secret };
  return JSON.stringify({ ts: Date.now(), event: "listening", url, ...keys, views });
}

function viewLine({ id, name }: Saved): string {
  return `  table view           ${id} ${plain(name)}`;
}

/** A limit from the environment, a whole number from `least` on. */
function setting(variable: string, name: string, least: number): Record<string, number> {
  const text = process.env[variable];
  if (text === undefined || text === "") return {};
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return { [name]: value };
  throw new UsageError(`${variable} is a whole number from ${least} on`);
}

async function savedViews(path: string): Promise<TableView[]> {
  const { readViews } = await import("../../platform/core/reports/table-views.js");
  let json: unknown;
  const text = load("--views", path);
  try {
    json = JSON.parse(text);
  } catch {
    throw new UsageError(`--views ${path} is no JSON`);
  }
  try {
    return readViews(json);
  } catch (error) {
    throw new UsageError(`--views ${path}: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function greeting({ url, profile }: Running, { as }: PlatformFlags, tell: boolean): string[] {
  return [
    `Platform (stand-in, ${as}) at ${url}`,
    `  console              ${url}/ in a browser`,
    "  tenant               tenant@thingsboard.org / tenant",
    "  customer             customer@thingsboard.org / customer",
    `  provisioning key     ${tell ? profile.key : "as given"}`,
    `  provisioning secret  ${tell ? profile.secret : "as given"}`,
  ];
}

function load(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`${option} ${path} can't be read (${codeOf(error)})`);
  }
}
