// A device that sleeps between its samples, on a machine that stays on: the sleep is a timer.
import type { Agent, Host, Wake, WakeOptions } from "../../src/index.js";

/** Runs wakes until the agent requests a restart or `onWake` ends them. `sample`: the application's result, if it is a function. */
export const wakeAgain = (
  agent: Agent,
  host: Pick<Host, "clock" | "log">,
  sample: unknown,
  onWake: (wake: Wake) => boolean,
): void => {
  const take = typeof sample === "function" ? (sample as WakeOptions["sample"]) : undefined;
  agent.runOnce({ sample: take }).then(
    (wake) => {
      if (onWake(wake) && !wake.restarting)
        host.clock.timer(wake.sleepMs, () => wakeAgain(agent, host, sample, onWake));
    },
    (error) => host.log("error", `a wake failed: ${error instanceof Error ? error.message : "unknown"}`),
  );
};
