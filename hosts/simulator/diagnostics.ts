// `mote/diagnostics` in the simulator.
import { addDiagnostics, type WithDiagnostics } from "../../extras/diagnostics/index.js";
import type { SimulatorHost } from "./host.js";

/** Like the one in hosts/esp32/diagnostics/diagnostics-board.ts. */
export type SimulatorDiagnostics = (machine: SimulatorHost) => WithDiagnostics<SimulatorHost>;

export const diagnostics: { readonly diagnostics: SimulatorDiagnostics } = {
  diagnostics: (machine) => addDiagnostics(machine),
};
