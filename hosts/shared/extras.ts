// What `start` of `mote/board` is handed.
import type { Application } from "./application.js";

export interface Program<Extras extends object> {
  readonly application: Application;
  /** Each has one of the members. */
  readonly extras?: readonly Extras[];
}

/** All extras as one object. Throws if there is no application: the earlier `start(application, …)` was called. */
export const joinExtras = <Extras extends object>({ application, extras = [] }: Program<Extras>): Extras => {
  if (typeof application !== "function")
    throw new TypeError("start({ application, extras }): application must be a function");
  const joined = {} as Extras;
  for (const extra of extras) Object.assign(joined, extra);
  return joined;
};
