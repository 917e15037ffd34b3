// State of a sleeping device for its next wake, as the string `kept`. A weak battery may damage
// memory, so it has a checksum.

import type { BodyMemory } from "../../platform/index.js";
import { type SealHost, seal, unseal } from "../../sealed.js";
import { isObject, type Json } from "../../wire/text/json.js";
import type { UpdateMemory } from "../firmware/firmware.js";
import type { TimeMemory } from "../time/time.js";

/** The parsed `kept` string. Each job changes only its own part. Flags are 0 or 1. */
export interface Memory {
  wakes: number;
  /** Wakes until the next connecting one. */
  wakesLeft: number;
  /** Wakes until the next attempt after a failure; doubled first. */
  backoffWakes: number;
  /** An alarm or `connect` waits since a failed attempt. */
  urgent: number;
  /** Requested duration of the sleep. */
  sleepMs: number;
  /** Network time since power-on. */
  radioMs: number;
  /** Points delivered since power-on. */
  points: number;
  /** ms since a failure of the storage was logged; 0: not, or long ago. */
  loggedMs: number;
  /** Keys of values left out that were logged, as a set of bits. */
  loggedKeySet: number;
  readonly time: TimeMemory;
  readonly update: UpdateMemory;
  readonly telemetry: BodyMemory;
  readonly attributes: BodyMemory;
}

const STATE_LENGTH = 16;

/** Parses the memory of the last wake. Defaults as after power-on if it is missing or invalid. */
export const readMemory = (host: SealHost, kept: string | undefined): Memory => {
  const memory = powerOn();
  const stored = typeof kept === "string" ? unseal(host, host.encode(kept)) : undefined;
  return fill(memory, stored) ? memory : powerOn();
};

export const writeMemory = (host: SealHost, memory: Memory): string =>
  host.decode(seal(host, JSON.stringify(memory))) ?? "";

const powerOn = (): Memory => ({
  wakes: 0,
  wakesLeft: 0,
  backoffWakes: 0.5,
  urgent: 0,
  sleepMs: 0,
  radioMs: 0,
  points: 0,
  loggedMs: 0,
  loggedKeySet: 0,
  time: { endedAt: 0, ticks: 0, exactFrom: -1, syncedAt: 0, sinceSyncMs: 0, rate: 1 },
  update: { busy: 0, assignmentHash: -1, state: "", retryMs: -1 },
  telemetry: { limit: 0, losses: 0, probed: 0 },
  attributes: { limit: 0, losses: 0, probed: 0 },
});

/** Replaces each member of `into` by the stored one. False if one is missing or implausible. */
const fill = (into: object, stored: Json | undefined): boolean => {
  if (!isObject(stored)) return false;
  const members = into as Record<string, unknown>;
  for (const key of Object.keys(into)) {
    const value = stored[key];
    const part = members[key];
    if (typeof part === "object" && part !== null) {
      if (!fill(part, value)) return false;
    } else if (typeof part === "string" ? isState(value) : isCount(value, key)) members[key] = value;
    else return false;
  }
  return true;
};

const isState = (value: unknown): boolean => {
  return typeof value === "string" && value.length <= STATE_LENGTH;
};

/** Reject implausible values: a corrupt record must not stop the device from waking. */
const isCount = (value: unknown, key: string): boolean => {
  if (typeof value !== "number" || !(value >= -1 && value < Number.MAX_SAFE_INTEGER)) return false;
  return key === "rate" ? value > 0.8 && value < 1.25 : true;
};
