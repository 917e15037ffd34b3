// `mote/trust` for an application's TypeScript.
import type { Extra } from "../types.js";

/** An extra for `start` of `mote/board`: takes CAs remotely that are signed with the key of `firmware.publicKey`. */
export declare const renewTrust: Extra;
