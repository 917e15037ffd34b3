// `mote/board` for an application's TypeScript.
import type { Agent } from "mote";
import type { Application, Commissioner } from "./start.js";

/**
 * Puts the board together, calls `application`, and starts the agent. To be called once, by the default function of main. `commission`, of
 * `mote/commission`: has the owner give what is not built in; undefined is returned while the owner is asked.
 */
export declare function start(application: Application, commission?: Commissioner): Agent | undefined;
