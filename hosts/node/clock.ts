import type { Clock } from "../../src/port.js";

/** The machine's clock. The wall clock is taken as known: a desk or server keeps its own. */
export const clock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  timer(ms, due) {
    // Rounded up: what is early by a fraction finds that it is not time yet.
    const timer = setTimeout(due, Math.ceil(ms));
    return () => clearTimeout(timer);
  },
};
