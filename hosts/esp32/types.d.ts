// `mote/board` for an application's TypeScript: on its own, so that an editor that checks an application checks nothing of ours.
import type { Agent } from "mote";
import type { AppHost } from "../shared/application.js";

export type { AppHost };

/**
 * Sets the application up; the agent is started afterwards. What it throws ends the run like a crash; after five crashes in ten minutes it is not called. With
 * `cycle` in the configuration it is called at each wake, and the function that it returns takes the sample.
 */
export type Application = (agent: Agent, host: AppHost) => unknown;

declare const extra: unique symbol;

/** `commission` of `mote/commission`, `keepLog` of `mote/kept-log`, or `renewTrust` of `mote/trust`. */
export interface Extra {
  readonly [extra]: true;
}

export interface Program {
  readonly application: Application;
  /** Parts that not every device needs, in any order. Each takes room in the image. Default: none. */
  readonly extras?: readonly Extra[];
}

/**
 * Puts the board together, calls the application, and starts the agent. Call it once, in the default function of main.
 * Returns undefined while the owner is asked for the configuration, or if the configuration is wrong.
 */
export declare function start(program: Program): Agent | undefined;
