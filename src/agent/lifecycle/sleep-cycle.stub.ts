// Replaces sleep-cycle.ts in the lean build, for devices that do not sleep.

import { leftOut } from "../../errors.js";
import { rejectLeftOut } from "../options/rules.js";
import type * as full from "./sleep-cycle.js";

export const CYCLE = rejectLeftOut;

export class SleepCycle implements Pick<full.SleepCycle, "run" | "running" | "stopped" | "hold"> {
  readonly running = false;

  stopped(): void {}

  hold(): void {}

  run(): never {
    throw leftOut("runOnce");
  }
}
