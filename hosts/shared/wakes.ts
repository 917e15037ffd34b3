// Runs a device with `cycle` on a machine that stays on (Node, simulator): a timer stands for
// sleep.
import type { Agent, Host, Wake, WakeOptions } from "../../src/index.js";

/**
 * Runs wakes until the agent requests a restart or `onWake` returns false. `sample`: what the
 * application returned; used if it is a function.
 */
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
