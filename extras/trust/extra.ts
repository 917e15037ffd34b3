// `mote/trust` on a board and in the simulator.
import { type RenewTrust, renewTrust as renew } from "./trust.js";

/** Handed to `start` of `mote/board`. */
export const renewTrust: { readonly renewTrust: RenewTrust } = { renewTrust: renew };
