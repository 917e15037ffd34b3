// In place of cycle.ts in the lean build: a device that does not sleep.
import type * as full from "./cycle.js";
import { leftOut } from "./errors.js";
import { refuseLeftOut } from "./option-rules.js";

export const CYCLE = refuseLeftOut;

export class Cycle implements Pick<full.Cycle, "run" | "running" | "stopped"> {
  readonly running = false;

  stopped(): void {}

  run(): never {
    throw leftOut("runOnce");
  }
}
