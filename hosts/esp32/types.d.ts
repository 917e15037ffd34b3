// `mote/board` for an application's TypeScript, self-contained so that editors check only the
// application.
import type { Agent, FirmwareOptions } from "mote";
import type { AppHost, Application } from "../device/application.js";

export type { AppHost, Application };

declare const extra: unique symbol;

/** `commission` (`mote/commission`) or `diagnostics` (`mote/diagnostics`). */
export interface Extra {
  readonly [extra]: true;
}

export interface Program {
  readonly application: Application;
  /**
   * Functions of the firmware options, which the manifest cannot contain. Default: none. Ignored
   * without `firmware` in the configuration.
   */
  readonly firmware?: Pick<FirmwareOptions, "selfTest" | "allow">;
  /** Optional parts, in any order. Each takes room in the image. Default: none. */
  readonly extras?: readonly Extra[];
}

/**
 * Creates the agent, sets up the application and starts the agent. Call it once, in the default
 * function of main. Returns undefined while the owner enters settings, or if the settings are
 * invalid. Throws a TypeError if `application` is not a function.
 */
export declare function start(program: Program): Agent | undefined;
