import type { Clock } from "../../src/port.js";

/** 2024-01-01: an earlier clock was never set (small boards start in 1970). */
const PLAUSIBLE = 1_704_067_200_000;

/** The machine's clock. */
export const clock: Clock = {
  now: () => performance.now(),
  wall() {
    const wall = Date.now();
    return wall >= PLAUSIBLE ? wall : undefined;
  },
  timer(ms, due) {
    // Round up, so that a timer never fires early.
    const timer = setTimeout(due, Math.ceil(ms));
    return () => clearTimeout(timer);
  },
};
