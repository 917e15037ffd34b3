// Builds a device on every machine: recovery, agent, extras, application, in this order.
import { Agent, type AgentOptions, type Host, type Recovery } from "../../src/index.js";
import { appHostOf } from "./app-host.js";
import type { AppHost } from "./application.js";

/** A part beside the agent, such as the kept log. Attends the agent before the application does. */
export interface AgentExtra {
  attach(agent: Agent): void;
}

/** A machine, as far as its device needs it. */
export interface Machine {
  /** The host with everything around it that the machine adds, such as the kept log. */
  readonly host: Host;
  readonly options: AgentOptions;
  readonly recovery: Recovery;
  /** Beside the agent, as far as the machine has them. */
  readonly extras: readonly (AgentExtra | undefined)[];
  readonly settings: AppHost["settings"];
  readonly health: AppHost["health"];
  /** Called when the agent is made, before the application is set up. */
  made?(agent: Agent): void;
}

export interface Device<Sample> {
  readonly agent: Agent;
  /** What the application returned; undefined in recovery mode, in which it is not called. */
  readonly sample: Sample | undefined;
}

/**
 * Makes the agent, which the caller starts, and sets the application up. Returns what is wrong with the options
 * if they are wrong. Throws what the application throws.
 */
export const assemble = <Sample>(
  { host, options, recovery, extras, settings, health, made }: Machine,
  application: (agent: Agent, host: AppHost) => Sample,
): Device<Sample> | string => {
  const agent = makeAgent(host, options);
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
