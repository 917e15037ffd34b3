// `mote/kept-log` for an application's TypeScript.
import type { LogKeeper } from "../types.js";

/** To be handed to `start` of `mote/board`: the board keeps its last lines, over a restart and a crash. */
export declare const keepLog: LogKeeper;
