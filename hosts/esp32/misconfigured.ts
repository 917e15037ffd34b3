import type { BoardHost } from "./host.js";

const TELL_AGAIN_MS = 60_000;

/** A mistake in the configuration is told every minute and restarts nothing; a new image with one must not stay: the one before it can be reached. */
export function misconfigured(host: BoardHost, what: string): undefined {
  const tell = (): void => {
    host.log("error", `the configuration is wrong: ${what}`);
    if (host.slot.state() === "pending") host.restart("wrong configuration");
    else host.clock.timer(TELL_AGAIN_MS, tell);
  };
  tell();
  return undefined;
}
