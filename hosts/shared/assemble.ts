// Builds a device on every machine: recovery, agent, extras, application, in this order.
import { Agent, type AgentOptions, type Host } from "../../src/index.js";
import type { Recovery } from "../../src/internal.js";
import { appHostOf } from "./app-host.js";
import type { AppHost } from "./application.js";
import type { FirmwareFunctions } from "./extras.js";

/** An optional part, such as the device log. Attached before the application is set up. */
export interface AgentExtra {
  attach(agent: Agent): void;
}

/** What a machine contributes to its device. */
export interface Machine {
  /** The host, already wrapped by extras such as the device log. */
  readonly host: Host;
  readonly options: AgentOptions;
  readonly firmware?: FirmwareFunctions | undefined;
  readonly recovery: Recovery;
  /** Undefined entries are ignored. */
  readonly extras: readonly (AgentExtra | undefined)[];
  readonly settings: AppHost["settings"];
  readonly health: AppHost["health"];
  /** Called with the new agent, before the application is set up. */
  made?(agent: Agent): void;
}

export interface Device<Sample> {
  readonly agent: Agent;
  /** What the application returned; undefined in recovery mode, in which it is not called. */
  readonly sample: Sample | undefined;
}

/**
 * Creates the agent and sets up the application; the caller starts the agent. Returns the mistakes
 * if the options are invalid. Throws what the application throws.
 */
export const assemble = <Sample>(
  { host, options, firmware, recovery, extras, settings, health, made }: Machine,
  application: (agent: Agent, host: AppHost) => Sample,
): Device<Sample> | string => {
  const whole = { ...options, ...(options.firmware && { firmware: { ...options.firmware, ...firmware } }) };
  const agent = makeAgent(host, whole);
  if (typeof agent === "string") {
    recovery.close();
    return agent;
  }
  recovery.attach(agent);
  for (const extra of extras) extra?.attach(agent);
  made?.(agent);
  const sample = recovery.active ? undefined : application(agent, appHostOf(host, settings, health));
  return { agent, sample };
};

const makeAgent = (host: Host, options: AgentOptions): Agent | string => {
  try {
    return new Agent(host, options);
  } catch (error) {
    return error instanceof Error ? error.message : "unknown";
  }
};
