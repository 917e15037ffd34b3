// `mote/commission` in the simulator, which has no access point: all settings are in the manifest.
import { isIncomplete } from "../../extras/commissioning/built-in-configuration.js";
import type { SimulatorCommissioner } from "./board.js";

const check: SimulatorCommissioner = (host, built, go) => {
  // The machine has a network.
  const config = { ...built, wifi: false };
  if (!isIncomplete(config)) return go(host, config);
  host.log("error", "config needs baseUrl, and token or provisioning: the simulator has no setup page");
  return undefined;
};

/** Passed to `start` of `mote/board`. */
export const commission: { readonly commission: SimulatorCommissioner } = { commission: check };
