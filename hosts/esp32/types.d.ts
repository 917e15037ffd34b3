// `mote/board` for an application's TypeScript: on its own, so that an editor that checks an application checks nothing of ours.
import type { Agent } from "mote";
import type { AppHost } from "../shared/application.js";

export type { AppHost };

/**
 * Sets the application up; the agent is started afterwards. What it throws ends the run like a crash; after five crashes in ten minutes it is not called. With
 * `cycle` in the configuration it is called at each wake, and the function that it returns takes the sample.
 */
export type Application = (agent: Agent, host: AppHost) => unknown;

declare const commissioner: unique symbol;

/** `commission` of `mote/commission`. */
export interface Commissioner {
  readonly [commissioner]: true;
}

declare const logKeeper: unique symbol;

/** `keepLog` of `mote/kept-log`. */
export interface LogKeeper {
  readonly [logKeeper]: true;
}

declare const renewer: unique symbol;

/** `renewTrust` of `mote/trust`. */
export interface TrustRenewer {
  readonly [renewer]: true;
}

/** What a project builds in beside the agent, as it has the room. */
export interface Modules {
  /** The board keeps its last lines, for `mote logs NAME --device`. */
  readonly keepLog?: LogKeeper;
  /** The authorities that are trusted over TLS can be renewed from afar, by `mote trust push`. */
  readonly renewTrust?: TrustRenewer;
}

/**
 * Puts the board together, calls `application`, and starts the agent. To be called once, by the default function of main. `commission`, of
 * `mote/commission`: has the owner give what is not built in; undefined is returned while the owner is asked.
 */
export declare function start(
  application: Application,
  commission?: Commissioner,
  modules?: Modules,
): Agent | undefined;
