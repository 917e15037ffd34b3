// Diagnostics of a device: its log, its health and its crashes. Devices that do not import it do
// not pay for it.
export { addDiagnostics, type WithDiagnostics } from "./add-diagnostics.js";
export { DeviceLog } from "./device-log.js";
export { Diagnostics } from "./diagnostics.js";
export type { Noted } from "./record.js";
export type {
  DiagnosticsAgent,
  DiagnosticsHost,
  DiagnosticsOptions,
  Health,
  LogAgent,
  LogAnswer,
  LogHost,
  LogMemory,
  LogOptions,
} from "./types.js";
