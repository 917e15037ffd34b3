import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { DAMAGED, FAILED } from "../../../../hosts/node/exit.js";
import { RATE_LIMITS, type RateLimit, TokenBucket } from "../../../platform/core/rate-limits.js";
import { ExitError } from "../../exit-error.js";
import { noteWhileRead } from "../../output/table.js";
import { stopSignals } from "../../stop.js";
import { durationOption, port, UsageError } from "../../usage.js";
import { certificate, savedViews } from "./files.js";
import { greeting, listening, nextSteps, viewLine } from "./greeting.js";
import { isLoopback, passwordFor, reachable } from "./network.js";

interface PlatformFlags {
  port: number;
  host: string;
  /** False: none is kept. */
  state?: string | false;
  adminPassword?: string;
  ruleChain?: true;
  tlsCert?: string;
  tlsKey?: string;
  asyncCap?: number;
  requestTimeout?: number;
  lag?: number;
  rateLimit?: Partial<Record<RateLimit, string>>;
  behindProxy?: true;
  flashPage?: string;
  views?: string;
  reportTime?: number;
  log: "text" | "json";
}

const HELP = `
The device API under /api/v1, and of the platform's REST what an operator needs, on its real paths.
Devices, credentials, attributes, series, packages and persistent RPCs are kept in mote/platform of $XDG_STATE_HOME (~/.local/state), or in the folder
of --state, and whatever was answered is on the disk by then; --no-state keeps all of it in memory. The provisioning key and secret are those that
were kept, or made up, unless MOTE_PROVISION_KEY and MOTE_PROVISION_SECRET are set.

It listens on this machine only, with the well-known passwords of a fresh server. --host 0.0.0.0 opens it to the network, and then one password
of your own (--admin-password, or MOTE_ADMIN_PASSWORD, which no list of processes shows) takes their place; without one it makes one up. The
console's address is drawn for a phone's camera then. --json prints no secret and no password: set them, or read the secret in the device profile.

A stock server's rule chain answers no client-side RPC, and neither does this one; --rule-chain answers getCurrentTime and getTime.

--rate-limit takes a name and one or more limits, and may be given again: device-points=100:1,3000:60 lets each device send 100 data points
a second and 3,000 a minute. Names: ${RATE_LIMITS.join(", ")}.

Reports of saved table views are built at POST /apiAnalytics/publicApi/buildReport; --views FILE replaces the one view over all devices (the file
is described in tools/platform/core/reports/table-views.ts). As on a real server SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE (10) of them run and
SIMPLE_API_RATE_LIMITER_QUEUE_CAPACITY (10) wait; --report-time says how long one takes at least.

Faults (delays, resets, lost answers and others) are switched on by POST /api/faults from this machine; the tenant reads the requests of devices
at GET /api/requests.

Examples:
  mote platform
  mote platform --port 8081 --state ./platform
  mote platform --async-cap 5s --lag 50ms --rate-limit device-messages=20:1`;

/** Like a server, it lets open polls run to their end. */
const STOPS = "Ctrl-C stops it once open polls have ended, a second Ctrl-C at once.";

export function platformCommand(program: Command): void {
  program
    .command("platform")
    .description("run a local platform on this machine")
    .addOption(new Option("--port <port>", "0: any free one").argParser(port).default(8080))
    .option("--host <address>", "to listen on", "127.0.0.1")
    .option("--state <dir>", "keep the platform's state there (default: a folder of yours, see below)")
    .option("--no-state", "keep nothing: it goes with the process")
    .addOption(
      new Option("--admin-password <password>", "of the tenant, the customer and the administrator").env(
        "MOTE_ADMIN_PASSWORD",
      ),
    )
    .option("--rule-chain", "answer client-side RPCs, as a rule chain for them would")
    .addOption(durationOption("--async-cap <duration>", "when open requests end with 503 (default: 30s)"))
    .addOption(
      durationOption(
        "--request-timeout <duration>",
        "when they end with 408 if they don't say (default: 60s)",
      ),
    )
    .addOption(durationOption("--lag <duration>", "from the 200 until the data is stored"))
    .addOption(new Option("--rate-limit <name=limit>", "what devices may send (see below)").argParser(limit))
    .option("--behind-proxy", "end open requests after 50s with a proxy's 504")
    .option("--flash-page <dir>", "what `mote esp32 --web` wrote: the page /flash writes it to boards")
    .option("--views <file>", "saved table views (JSON)")
    .addOption(durationOption("--report-time <duration>", "how long a report takes at least"))
    .option("--tls-cert <file>", "certificate (PEM): https in place of http")
    .option("--tls-key <file>", "its key (PEM)")
    .addOption(
      new Option("--log <format>", "lines for people, or one JSON object per line")
        .choices(["text", "json"])
        .default("text"),
    )
    .addOption(new Option("--json", "the same as --log json").implies({ log: "json" }))
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
  const { startPlatform } = await import("../../../platform/server.js");
  const { tlsCert, tlsKey } = certificate(flags);
  const views = flags.views === undefined ? undefined : await savedViews(flags.views);
  const password = passwordFor(flags);
  if (password?.isMadeUp && flags.log === "json")
    throw new UsageError(
      "--log json prints no password: give one with --admin-password or MOTE_ADMIN_PASSWORD",
    );
  let lose = (_: Error): void => {};
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});
  const state = stateFolder(flags);
  const running = await startPlatform({
    port: flags.port,
    host: flags.host,
    ...(state !== undefined && { state: { directory: state, onLost: lose } }),
    ...(password && { adminPassword: password.text }),
    ...(flags.ruleChain && { ruleChain: true }),
    ...(tlsCert !== undefined && { tlsCert }),
    ...(tlsKey !== undefined && { tlsKey }),
    ...(flags.asyncCap !== undefined && { asyncCapMs: flags.asyncCap }),
    ...(flags.requestTimeout !== undefined && { requestTimeoutMs: flags.requestTimeout }),
    ...(flags.lag !== undefined && { lagMs: flags.lag }),
    ...(flags.rateLimit && { rateLimits: flags.rateLimit }),
    behindProxy: flags.behindProxy === true,
    ...(views && { views }),
    ...(flags.flashPage !== undefined && { flashPage: resolve(flags.flashPage) }),
    ...(flags.reportTime !== undefined && { reportMs: flags.reportTime }),
    reportPool: {
      ...setting("SIMPLE_API_RATE_LIMITER_QUEUE_CAPACITY", "queueCapacity", 0),
      ...setting("SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE", "threadPoolSize", 1),
    },
    ...(given && { profile: given }),
    log: noteWhileRead,
  }).catch((error: Error & { isDamaged?: boolean }) => {
    if (error.name !== "StateError") throw error;
    const hint = flags.state === undefined ? " (--state DIR takes another folder, --no-state none)" : "";
    throw new ExitError(error.isDamaged ? DAMAGED : FAILED, error.message + hint, { cause: error });
  });
  // The address first: it is what everybody looks for.
  const tell = given === undefined;
  const urls = isLoopback(flags.host) ? [] : reachable(running.url, flags.host);
  const saved = running.views.list().map(({ id, name }) => ({ id, name }));
  const lines =
    flags.log === "json"
      ? [listening(running, tell, saved, { urls, state })]
      : [
          ...greeting(running, { ...flags, state }, tell, { urls, password }),
          ...saved.map(viewLine),
          ...nextSteps(running, flags.tlsCert, tell, urls),
          STOPS,
        ];
  process.stdout.write(`${lines.join("\n")}\n`);
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve());
  });
  await Promise.race([stopped, lost]).catch((error: Error) => {
    throw new ExitError(FAILED, `${error.message}; the platform stopped, what it answered before is kept`);
  });
  // As a server does: polls run to their end. Who asks again does not want to wait.
  const killed = new Promise<void>((resolve) => kill.addEventListener("abort", () => resolve()));
  await Promise.race([running.drain(), killed]);
  process.exit(0);
}

/** Where state is kept; undefined: nowhere. */
function stateFolder({ state }: PlatformFlags): string | undefined {
  if (state === false) return undefined;
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return state ?? join(base, "mote", "platform");
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

/** A limit from the environment, a whole number from `least` on. */
function setting(variable: string, name: string, least: number): Record<string, number> {
  const text = process.env[variable];
  if (text === undefined || text === "") return {};
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return { [name]: value };
  throw new UsageError(`${variable} must be a whole number from ${least} on`);
}
