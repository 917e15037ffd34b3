// The public names of the kept log: `mote/log`. A device that nobody asks for its lines does not pay for them.
export { DeviceLog } from "./device-log.js";
export type { LogAgent, LogAnswer, LogHost, LogMemory, LogOptions } from "./types.js";
