import type { BoardHost } from "./host.js";

const LOG_AGAIN_MS = 60_000;

/** A mistake in the configuration is logged every minute and restarts nothing; a new image with one must not stay: the one before it can be reached. */
export const misconfigured = (host: BoardHost, what: string): undefined => {
  const logMistake = (): void => {
    host.log("error", `the configuration is wrong: ${what}`);
    if (host.slot.state() === "pending") host.restart("wrong configuration");
    else host.clock.timer(LOG_AGAIN_MS, logMistake);
  };
  logMistake();
  return undefined;
};
