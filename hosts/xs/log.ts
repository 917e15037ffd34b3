/** To the debugger's console; a release build for a board has it on the serial line (sdkconfig.defaults.release). */
export const log = (level: "info" | "warn" | "error", line: string): void => {
  trace(`${level}: ${line}\n`);
};
