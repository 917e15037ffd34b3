// `mote/commission` for an application's TypeScript.
import type { Extra } from "../types.js";

/** An extra for `start` of `mote/board`: asks the owner, by page or cable, for the configuration that is not built in. */
export declare const commission: Extra;
