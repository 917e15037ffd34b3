// `mote/diagnostics` for an application's TypeScript.
import type { Extra } from "../types.js";

/**
 * Extra for `start` of `mote/board`: the last log lines survive a restart and a crash, and the
 * device answers `mote.log` and `mote.health`.
 */
export declare const diagnostics: Extra;
