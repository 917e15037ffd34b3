// The public API of diagnostics, `mote/diagnostics`. Devices that do not import it do not pay for
// it.
export { Diagnostics } from "./diagnostics.js";
export type { Noted } from "./record.js";
export type { DiagnosticsAgent, DiagnosticsHost, DiagnosticsOptions, Health } from "./types.js";
