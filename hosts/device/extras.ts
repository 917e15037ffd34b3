// The parameter of `start` in `mote/board`.
import type { FirmwareOptions } from "../../src/index.js";
import type { Application } from "./application.js";

/** Firmware options that a configuration, which is JSON, cannot hold. */
export type FirmwareFunctions = Pick<FirmwareOptions, "selfTest" | "allow">;

export interface Program<Extras extends object> {
  readonly application: Application;
  /** Ignored without `firmware` in the configuration. */
  readonly firmware?: FirmwareFunctions;
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
