// The parameter of `start` in `mote/board`.
import type { Application } from "./application.js";

export interface Program<Extras extends object> {
  readonly application: Application;
  /** Objects with one member of `Extras` each. */
  readonly extras?: readonly Extras[];
}

/**
 * Joins the extras into one object. Throws a TypeError if `application` is not a function, as in
 * the earlier `start(application, …)`.
 */
export const joinExtras = <Extras extends object>({ application, extras = [] }: Program<Extras>): Extras => {
  if (typeof application !== "function")
    throw new TypeError("start({ application, extras }): application must be a function");
  const joined = {} as Extras;
  for (const extra of extras) Object.assign(joined, extra);
  return joined;
};
