// The public names of diagnostics: `mote/diagnostics`. A device that is not looked after by anybody does not pay for them.
export { Diagnostics } from "./diagnostics.js";
export type { Noted } from "./record.js";
export type { DiagnosticsAgent, DiagnosticsHost, DiagnosticsOptions, Health } from "./types.js";
