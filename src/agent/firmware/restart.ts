import type { Signal } from "../common/signal.js";
import type { Link } from "../session/index.js";
import type { Reporter } from "./reporter.js";

/** Restarts the machine. Resolves only if it does not: when the link stops. */
export async function restart(link: Link, signal: Signal, reporter: Reporter): Promise<void> {
  reporter.restart();
  link.host.restart("firmware");
  while (link.running) await signal.wait();
}
