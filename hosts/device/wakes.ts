// Runs a device with `cycle` on a machine that stays on (Node, simulator): a timer stands for
// sleep.
import type { Host, Wake, WakeOptions } from "../../src/index.js";
import type { Device, Sleeper } from "./assemble.js";

/** Runs wakes until the agent requests a restart or `onWake` returns false. */
export class TimedWakes implements Sleeper {
  private readonly _host: Pick<Host, "clock" | "log">;
  private readonly _onWake: (wake: Wake) => boolean;

  constructor(host: Pick<Host, "clock" | "log">, onWake: (wake: Wake) => boolean) {
    this._host = host;
    this._onWake = onWake;
  }

  wake(device: Device<unknown>): void {
    const { agent, sample } = device;
    const { clock, log } = this._host;
    const take = typeof sample === "function" ? (sample as WakeOptions["sample"]) : undefined;
    agent.runOnce({ sample: take }).then(
      (wake) => {
        if (this._onWake(wake) && !wake.restarting) clock.timer(wake.sleepMs, () => this.wake(device));
      },
      (error) => log("error", `a wake failed: ${error instanceof Error ? error.message : "unknown"}`),
    );
  }
}
