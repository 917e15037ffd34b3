// Builds a device on every machine: recovery, agent, extras, application, in this order.

import { Recovery } from "../../src/board-module.js";
import { Agent, type AgentOptions, type Host } from "../../src/index.js";
import { appHostOf } from "./app-host.js";
import type { AppHost } from "./application.js";
import type { FirmwareFunctions } from "./extras.js";

/** An optional part, such as diagnostics. Attached before the application is set up. */
export interface AgentExtra {
  attach(agent: Agent, health: AppHost["health"]): void;
}

/** Runs a device that sleeps between samples: deep sleep on a board, a timer elsewhere. */
export interface Sleeper {
  /** `sample` of the device takes the sample of each wake if it is a function. */
  wake(device: Device<unknown>): void;
}

/** What a machine contributes to its device. */
export interface DeviceParts {
  /** The host, already wrapped by extras such as the device log. */
  readonly host: Host;
  readonly options: AgentOptions;
  readonly firmware?: FirmwareFunctions | undefined;
  /** Default: a new one for the version of the firmware. */
  readonly recovery?: Recovery;
  /** Undefined entries are ignored. */
  readonly extras: readonly (AgentExtra | undefined)[];
  readonly settings: Omit<AppHost["settings"], "sleeps">;
  readonly health: AppHost["health"];
  /** Undefined: the device stays on. */
  readonly sleeper?: Sleeper | undefined;
  /** Called with the new agent, before the application is set up. */
  made?(agent: Agent): void;
}

export interface Device<Sample> extends Pick<DeviceParts, "sleeper"> {
  readonly agent: Agent;
  readonly recovery: Recovery;
  /** What the application returned; undefined in recovery mode, in which it is not called. */
  readonly sample: Sample | undefined;
}

/**
 * Creates the agent and sets up the application; startDevice starts them. Returns the mistakes if
 * the options are invalid. Throws what the application throws.
 */
export const assemble = <Sample>(
  parts: DeviceParts,
  application: (agent: Agent, host: AppHost) => Sample,
): Device<Sample> | string => {
  const { host, options, firmware, extras, settings, health, sleeper, made } = parts;
  const recovery = parts.recovery ?? new Recovery(host, options.firmware?.version ?? "");
  const whole = { ...options, ...(options.firmware && { firmware: { ...options.firmware, ...firmware } }) };
  const agent = makeAgent(host, whole);
  if (typeof agent === "string") {
    recovery.cancelTimers();
    return agent;
  }
  recovery.attach(agent);
  for (const extra of extras) extra?.attach(agent, health);
  made?.(agent);
  const own = { ...settings, ...(sleeper && { sleeps: true }) };
  const sample = recovery.active ? undefined : application(agent, appHostOf(host, own, health));
  return { agent, recovery, sample, sleeper };
};

/** Starts the agent, or the first wake of a device that sleeps. */
export const startDevice = (device: Device<unknown>): void => {
  if (device.sleeper) device.sleeper.wake(device);
  else device.agent.start();
};

const makeAgent = (host: Host, options: AgentOptions): Agent | string => {
  try {
    return new Agent(host, options);
  } catch (error) {
    return error instanceof Error ? error.message : "unknown";
  }
};
