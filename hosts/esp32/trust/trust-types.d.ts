// `mote/trust` for an application's TypeScript.
import type { Extra } from "../types.js";

/** Extra for `start` of `mote/board`: CAs can be changed remotely, signed with the firmware key. */
export declare const renewTrust: Extra;
