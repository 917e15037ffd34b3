import type { Host } from "../../src/port.js";

/** To the debugger's console; a release build for a board has it on the serial line (sdkconfig.defaults.release). */
export const log: Host["log"] = (level, line) => {
  if (level !== "debug") trace(`${level}: ${line}\n`);
};
