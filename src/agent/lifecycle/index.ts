// Wakes, reset and recovery. `start()` and `stop()` are in core.ts.
export { Recovery } from "./recovery.js";
export { RESET_METHOD, Reset } from "./reset.js";
export { SleepCycle } from "./sleep-cycle.js";
export type { Sample, Wake, WakeOptions } from "./wake.js";
