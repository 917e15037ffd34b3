// `mote/kept-log` in the simulator.
import { DeviceLog } from "../../extras/log/index.js";
import type { SimulatorHost } from "./host.js";

/** Like the one in hosts/esp32/log/kept-log.ts. */
export type LogKeeper = (machine: SimulatorHost) => DeviceLog;

export const keepLog: { readonly keepLog: LogKeeper } = { keepLog: (machine) => new DeviceLog(machine) };
