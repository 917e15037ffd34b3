// The public API of the stored log, `mote/log`. Devices that do not import it do not pay for it.
export { DeviceLog } from "./device-log.js";
export type { LogAgent, LogAnswer, LogHost, LogMemory, LogOptions } from "./types.js";
