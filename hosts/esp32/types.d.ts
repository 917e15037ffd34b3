// `mote/board` for an application's TypeScript.
import type { Agent } from "mote";
import type { Application } from "./start.js";

/** Puts the board together, calls `application`, and starts the agent. To be called once, by the default function of main. */
export declare function start(application: Application): Agent | undefined;
