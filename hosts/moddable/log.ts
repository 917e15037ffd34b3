import type { Host } from "../../src/port.js";

/**
 * Logs to the debugger's console; a release build for a board logs to serial
 * (sdkconfig.defaults.release).
 */
export const log: Host["log"] = (level, line) => trace(`${level}: ${line}\n`);
