// `mote/trust` for an application's TypeScript.
import type { TrustRenewer } from "../types.js";

/** To be handed to `start` of `mote/board`: takes authorities from afar that are signed with the key of `firmware.publicKey`. */
export declare const renewTrust: TrustRenewer;
