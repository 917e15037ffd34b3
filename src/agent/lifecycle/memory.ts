// State of a sleeping device for its next wake, as the string `kept`.
import type { Host } from "../../port.js";
import { crcOf } from "../../wire/crypto/crc32.js";
import { parseObject } from "../../wire/text/json.js";
import type { UpdateMemory } from "../firmware/firmware.js";
import type { RefusalMemory } from "../telemetry/telemetry.js";
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
  /** Keys of values left out that were logged, as a set of bits. */
  loggedKeySet: number;
  readonly time: TimeMemory;
  readonly update: UpdateMemory;
  readonly refusals: RefusalMemory;
}

const FORMAT = 1;
const STATE_LENGTH = 16;

/** Parses the memory of the last wake. Defaults as after power-on if it is missing or invalid. */
export const readMemory = (host: Pick<Host, "encode" | "loops">, kept: string | undefined): Memory => {
  const stored = parseKept(host, kept);
  return {
    wakes: stored.wakes,
    wakesLeft: stored.due,
    backoffWakes: stored.step,
    urgent: stored.urgent,
    sleepMs: stored.sleep,
    radioMs: stored.radio,
    points: stored.points,
    loggedKeySet: stored.logged,
    time: {
      endedAt: stored.at,
      ticks: stored.ticks,
      exactFrom: stored.exactFrom,
      syncedAt: stored.told,
      sinceSyncMs: stored.own,
      rate: stored.rate,
    },
    update: {
      busy: stored.busy,
      assignmentHash: stored.look,
      state: stored.state,
      retryMs: stored.retry,
    },
    refusals: { alone: stored.alone, probed: stored.probed },
  };
};

type Stored = ReturnType<typeof powerOn>;

/** The members of `kept`, in their order, after power-on. */
const powerOn = () => ({
  wakes: 0,
  due: 0,
  step: 0.5,
  urgent: 0,
  at: 0,
  ticks: 0,
  exactFrom: -1,
  sleep: 0,
  told: 0,
  own: 0,
  rate: 1,
  busy: 0,
  look: -1,
  state: "",
  retry: -1,
  radio: 0,
  points: 0,
  alone: 0,
  probed: 0,
  logged: 0,
});

const parseKept = (host: Pick<Host, "encode" | "loops">, kept: string | undefined): Stored => {
  const text = typeof kept === "string" ? kept.slice(kept.indexOf("{")) : "";
  const before = kept === withChecksum(host, text) ? parseObject(text) : undefined;
  const stored = powerOn();
  if (before?.format !== FORMAT) return stored;
  const found: Record<string, unknown> = {};
  for (const key of Object.keys(stored)) {
    const value = before[key];
    // A member that an older version did not write.
    if (value === undefined) continue;
    if (key === "state" ? !isState(value) : !isCount(value, key)) return stored;
    found[key] = value;
  }
  return Object.assign(stored, found);
};

export const writeMemory = (host: Pick<Host, "encode" | "loops">, memory: Memory): string => {
  const { time, update, refusals } = memory;
  const stored: Omit<Stored, "logged"> & { logged: number | undefined } = {
    wakes: memory.wakes,
    due: memory.wakesLeft,
    step: memory.backoffWakes,
    urgent: memory.urgent,
    at: time.endedAt,
    ticks: time.ticks,
    exactFrom: time.exactFrom,
    sleep: memory.sleepMs,
    told: time.syncedAt,
    own: time.sinceSyncMs,
    rate: time.rate,
    busy: update.busy,
    look: update.assignmentHash,
    state: update.state,
    retry: update.retryMs,
    radio: memory.radioMs,
    points: memory.points,
    alone: refusals.alone,
    probed: refusals.probed,
    // Absent if nothing was logged, which is the rule.
    logged: memory.loggedKeySet === 0 ? undefined : memory.loggedKeySet,
  };
  return withChecksum(host, JSON.stringify({ format: FORMAT, ...stored }));
};

/**
 * Memory that survives sleep may be corrupted by a weak battery, so a checksum precedes the text.
 */
const withChecksum = (host: Pick<Host, "encode" | "loops">, text: string): string => {
  return crcOf(host, host.encode(text)) + text;
};

const isState = (value: unknown): boolean => {
  return typeof value === "string" && value.length <= STATE_LENGTH;
};

/** Reject implausible values: a corrupt record must not stop the device from waking. */
const isCount = (value: unknown, key: string): boolean => {
  if (typeof value !== "number" || !(value >= -1 && value < Number.MAX_SAFE_INTEGER)) return false;
  return key === "rate" ? value > 0.8 && value < 1.25 : true;
};
