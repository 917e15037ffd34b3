// What begins and ends beside `start()` and `stop()`, which core.ts has: wakes, reset, recovery.
export { Recovery } from "./recovery.js";
export { Reset } from "./reset.js";
export { CYCLE, Cycle } from "./sleep-cycle.js";
export type { Sample, Wake, WakeOptions } from "./wake.js";
