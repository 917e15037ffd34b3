// `mote/kept-log` for an application's TypeScript.
import type { Extra } from "../types.js";

/** An extra for `start` of `mote/board`: the board keeps its last lines over a restart and a crash. */
export declare const keepLog: Extra;
