// `mote/kept-log` in the simulator.
import { DeviceLog } from "../../extras/log/index.js";
import type { SimulatorHost } from "./host.js";

/** Like the one in hosts/esp32/log/kept-log.ts. */
export type SimulatorLogKeeper = (machine: SimulatorHost) => DeviceLog;

export const keepLog: { readonly keepLog: SimulatorLogKeeper } = {
  keepLog: (machine) => new DeviceLog(machine),
};
