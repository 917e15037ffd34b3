// Turns the agent's events into readable log lines, for `mote run` and the simulator.
import { updateWord } from "../../src/agent/firmware/state-words.js";
import type { Agent, AgentEvents } from "../../src/index.js";

/** Names of the events in output. `error` is missing because the log has a line for each error. */
const EVENT_NAMES: Readonly<Partial<Record<keyof AgentEvents, string>>> = {
  provisioned: "provisioned",
  online: "online",
  offline: "offline",
  delivered: "telemetry.delivered",
  delivery: "telemetry.delivery",
  drop: "telemetry.dropped",
  attributes: "attributes.changed",
  rpc: "rpc",
  firmware: "firmware.state",
  refused: "refused",
  restart: "restart",
};

/** Calls `onEvent` with each event of the agent, under its name in output. */
export const followAgent = (agent: Agent, onEvent: (event: Event) => void): void => {
  for (const [name, eventName] of Object.entries(EVENT_NAMES)) {
    agent.on(name as keyof AgentEvents, (detail) => {
      const event = "stage" in detail ? `${eventName}.${detail.stage}` : eventName;
      onEvent({ ...detail, event });
    });
  }
};

/** `event`: the name in output. The other members are those of the agent's event. */
type Event = { event: string } & Record<string, unknown>;
type Format = (event: Event) => string;

const list = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : "");
const after = (lead: string, value: unknown): string =>
  value === undefined || value === "" ? "" : `${lead}${String(value)}`;
const pluralEnding = (count: unknown): string => (count === 1 ? "" : "s");

const FORMATS: Readonly<Record<string, Format>> = {
  started: (e) =>
    `started ${e.title} ${e.version} (slot ${e.slot}${e.state === "pending" ? ", not confirmed yet" : ""})`,
  stopped: () => "stopped",
  commissioning: (e) => `open ${e.url} in a browser to commission this device (10 minutes)`,
  commissioned: () => "commissioned: the settings are stored in the state directory",
  provisioned: (e) => `provisioned${after(" as ", e.deviceName)}`,
  online: () => "online",
  offline: (e) => `offline${after(": ", e.reason)}`,
  refused: (e) => `refused by the platform (${e.what})${after(": ", e.reason)}`,
  "telemetry.delivered": (e) => `delivered ${e.points} point${pluralEnding(e.points)}`,
  "telemetry.delivery": (e) =>
    e.behind === true ? `delivery is behind: ${e.points} points wait` : "delivery has caught up",
  "telemetry.dropped": (e) => `dropped ${e.points} point${pluralEnding(e.points)}: ${e.reason}`,
  "attributes.changed": (e) => `attributes: ${list(e.keys)}${after("; deleted: ", list(e.deleted))}`,
  "rpc.received": (e) => `RPC ${e.id} ${e.method}`,
  "rpc.answered": (e) => `RPC ${e.id} answered${after(": ", e.error)}`,
  "rpc.unanswered": (e) => `RPC ${e.id} could not be answered`,
  "firmware.state": (e) =>
    `firmware ${e.version}: ${updateWord(String(e.state))}${e.progress === undefined ? "" : ` ${e.progress} %`}${after(": ", e.error)}`,
  "firmware.flashed": (e) => `firmware installed (${e.bytes} bytes)`,
  "firmware.fallback": (e) => `firmware in slot ${e.slot} rejected (${e.reason}): rolling back`,
  recovery: (e) =>
    `recovery mode: the application crashed repeatedly and is not started${after(": ", e.cause)}`,
  wake: (e) =>
    `wake ${e.wakes} (${e.reason}): ${e.delivered} delivered, ${e.waiting} waiting, ${Math.round(Number(e.radioMs))} ms connected; asleep for ${Number(e.sleepMs) / 1000} s`,
  restart: (e) => `restart${after(": ", e.reason)}`,
  crash: (e) => `the worker ended: ${e.reason}; next try in ${Number(e.retryMs) / 1000} s`,
  log: (e) => (e.level === "info" ? `${e.line}` : `${e.level}: ${e.line}`),
};

/** The line for `event`; for an unknown event, its name. */
export const eventLine = (event: Event): string => {
  const format = Object.hasOwn(FORMATS, event.event) ? FORMATS[event.event] : undefined;
  return format ? format(event) : event.event;
};
