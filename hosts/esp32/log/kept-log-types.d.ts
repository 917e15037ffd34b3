// `mote/kept-log` for an application's TypeScript.
import type { Extra } from "../types.js";

/** Extra for `start` of `mote/board`: the last log lines survive a restart and a crash. */
export declare const keepLog: Extra;
