/** To the debugger's console; a release build prints nowhere. */
export function log(level: "info" | "warn" | "error", line: string): void {
  trace(`${level}: ${line}\n`);
}
