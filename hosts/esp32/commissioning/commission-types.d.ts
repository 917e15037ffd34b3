// `mote/commission` for an application's TypeScript.
import type { Commissioner } from "../types.js";

/** To be handed to `start` of `mote/board`: has the owner give, by page or cable, what is not built in. */
export declare const commission: Commissioner;
