import type { Agent } from "../../src/agent/agent.js";
import { DeviceLog } from "./device-log.js";
import { Diagnostics } from "./diagnostics.js";
import type { DiagnosticsHost, DiagnosticsOptions, LogHost, LogOptions } from "./types.js";

/** A host whose lines are stored, and the function that adds `mote.log` and `mote.health`. */
export interface WithDiagnostics<H> {
  readonly host: H;
  readonly log: DeviceLog;
  /** Call once, before `agent.start()`. */
  attach(agent: Agent, health?: DiagnosticsOptions): void;
}

/** Adds the device log to a host. Create the agent with the returned one, then attach it. */
export const addDiagnostics = <H extends LogHost & DiagnosticsHost>(
  machine: H,
  options?: LogOptions,
): WithDiagnostics<H> => {
  const log = new DeviceLog(machine, options);
  const host = log.over(machine);
  return {
    host,
    log,
    attach(agent, health) {
      log.attach(agent);
      new Diagnostics(agent, host, health);
    },
  };
};
