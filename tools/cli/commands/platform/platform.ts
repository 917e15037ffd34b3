import { homedir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { DAMAGED, FAILED } from "../../../exit-codes.js";
import { ExitError } from "../../exit-error.js";
import { noteWhileRead } from "../../output/table.js";
import { stopSignals } from "../../stop.js";
import { port, UsageError } from "../../usage.js";
import { certificate } from "./files.js";
import { greeting, listening, nextSteps } from "./greeting.js";
import { isLoopback, passwordFor, reachable } from "./network.js";

interface PlatformFlags {
  port: number;
  host: string;
  /** False: memory only. */
  state?: string | false;
  adminPassword?: string;
  ruleChain?: true;
  tlsCert?: string;
  tlsKey?: string;
  json?: true;
}

const HELP = `
Serves the device API and the operator's REST API on their real paths, for development. The default of --state is mote/platform of $XDG_STATE_HOME
(~/.local/state). MOTE_PROVISION_KEY and MOTE_PROVISION_SECRET set the provisioning key and secret; otherwise Mote creates and stores them.

The platform listens on this machine only, with the default passwords of a new server. --host 0.0.0.0 opens it to the network; then one password replaces
the defaults: --admin-password, MOTE_ADMIN_PASSWORD (hidden from process lists) or a generated one.

Like a new server, it does not answer client-side RPCs; --rule-chain answers getCurrentTime and getTime.

POST /api/faults from this machine injects faults such as delays, resets and lost answers. GET /api/requests lists requests of devices.

Examples:
  mote platform
  mote platform --port 8081 --state ./platform`;

/** Like a server, the platform lets open polls finish. */
const STOPS = "Ctrl-C stops it after open polls; press Ctrl-C again to stop at once.";

export function platformCommand(program: Command): void {
  program
    .command("platform")
    .description("run a local platform for development")
    .addOption(
      new Option("--port <port>", "port to listen on; 0: any free port").argParser(port).default(8080),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--state <dir>", "state directory")
    .option("--no-state", "keep all state in memory")
    .addOption(
      new Option("--admin-password <password>", "password of tenant, customer and system administrator").env(
        "MOTE_ADMIN_PASSWORD",
      ),
    )
    .option("--rule-chain", "answer client-side RPCs getCurrentTime and getTime")
    .option("--tls-cert <file>", "certificate (PEM); enables https")
    .option("--tls-key <file>", "key of the certificate (PEM)")
    .option("--json", "print the addresses as one line of JSON")
    .addHelpText("after", HELP)
    .action(platform);
}

async function platform(flags: PlatformFlags): Promise<void> {
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key require each other");
  }
  const { MOTE_PROVISION_KEY: key, MOTE_PROVISION_SECRET: secret } = process.env;
  const given = key && secret ? { key, secret } : undefined;
  const { stop, kill } = stopSignals();
  // Load the server only for this command.
  const { startPlatform } = await import("../../../platform/server.js");
  const { tlsCert, tlsKey } = certificate(flags);
  const password = passwordFor(flags);
  if (password?.isMadeUp && flags.json)
    throw new UsageError("--json prints no generated password: set --admin-password or MOTE_ADMIN_PASSWORD");
  let lose = (_: Error): void => {};
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});
  const state = stateFolder(flags);
  const running = await startPlatform({
    ...{ port: flags.port, host: flags.host, tlsCert, tlsKey, profile: given },
    state: state === undefined ? undefined : { directory: state, onLost: lose },
    adminPassword: password?.text,
    ruleChain: flags.ruleChain,
    log: noteWhileRead,
  }).catch((error: Error & { isDamaged?: boolean }) => {
    if (error.name !== "StateError") throw error;
    const hint = flags.state === undefined ? " (use another folder: --state DIR; or none: --no-state)" : "";
    throw new ExitError(error.isDamaged ? DAMAGED : FAILED, error.message + hint, { cause: error });
  });
  // The address comes first.
  const tell = given === undefined;
  const urls = isLoopback(flags.host) ? [] : reachable(running.url, flags.host);
  const lines = flags.json
    ? [listening(running, tell, { urls, state })]
    : [
        ...greeting(running, { ...flags, state }, tell, { urls, password }),

        ...nextSteps(running, flags.tlsCert, tell),
        STOPS,
      ];
  process.stdout.write(`${lines.join("\n")}\n`);
  const stopped = new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve());
  });
  await Promise.race([stopped, lost]).catch((error: Error) => {
    throw new ExitError(
      FAILED,
      `${error.message}; the platform stopped. Data acknowledged before is stored.`,
    );
  });
  // Polls finish first, unless Ctrl-C comes again.
  const killed = new Promise<void>((resolve) => kill.addEventListener("abort", () => resolve()));
  await Promise.race([running.drain(), killed]);
  process.exit(0);
}

/** The state directory; undefined: memory only. */
function stateFolder({ state }: PlatformFlags): string | undefined {
  if (state === false) return undefined;
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return state ?? join(base, "mote", "platform");
}
