import type { BoardHost } from "./host.js";

const LOG_AGAIN_MS = 60_000;

/**
 * Logs a configuration mistake every minute without restarting. A new image with a mistake rolls
 * back, because the previous one is reachable.
 */
export const misconfigured = (host: BoardHost, what: string): undefined => {
  const logMistake = (): void => {
    host.log("error", `the configuration is wrong: ${what}`);
    if (host.slot.state() === "pending") host.restart("wrong configuration");
    else host.clock.timer(LOG_AGAIN_MS, logMistake);
  };
  logMistake();
  return undefined;
};
