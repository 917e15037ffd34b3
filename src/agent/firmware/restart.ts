import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";
import type { Reporter } from "./reporter.js";

/** Restarts the machine. Resolves only if the session stops instead. */
export async function restart(session: PlatformSession, signal: Signal, reporter: Reporter): Promise<void> {
  reporter.restart();
  session.host.restart("firmware");
  while (session.running) await signal.wait();
}
