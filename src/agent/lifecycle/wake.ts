// A wake of a sleeping device: its options, its result, and the state for the next wake.
import type { Host } from "../../port.js";
import { crcOf } from "../../wire/crypto/crc32.js";
import { parseObject } from "../../wire/text/json.js";
import type { UpdateMemory } from "../firmware/firmware.js";
import type { RefusalMemory } from "../telemetry/telemetry.js";
import type { TimeMemory } from "../time/time.js";
import type { CycleSettings } from "./options.js";

/**
 * Result of `sample`: the values of a point or `{ values, alarm }`; undefined or null records
 * nothing.
 */
export type Sample =
  | Record<string, unknown>
  | { values: Record<string, unknown>; alarm?: boolean }
  | undefined
  | null;

/** Options of `runOnce`. Times in ms. */
export interface WakeOptions {
  /**
   * Time limit of the wake: connections are closed and the promise is resolved. Default 30,000; a
   * download or trial takes up to `cycle.updateMs`.
   */
  timeoutMs?: number | undefined;
  /**
   * Takes a reading, which is recorded as one point.
   *
   * Returns values as for `telemetry.record`, or `{ values, alarm: true }` for a point to be sent
   * now. May be async, within half of the time limit. An exception is logged, and the wake
   * continues without a point.
   */
  sample?: (() => Sample | Promise<Sample>) | undefined;
  /** Connect in this wake even if nothing is due. */
  connect?: boolean | undefined;
  /**
   * Switches the radio on; called only in a wake that connects. False, a rejection or no answer
   * means no network. Default: the network is available.
   */
  network?: (() => boolean | Promise<boolean>) | undefined;
  /**
   * `kept` of the last wake, from memory that survives sleep. If missing or invalid, this is the
   * first wake after power-on. Not needed for the same agent object.
   */
  kept?: string | undefined;
  /**
   * Duration of the sleep by the machine's own clock, if known. Default: the requested duration.
   */
  sleptMs?: number | undefined;
}

/** Result of `runOnce`. */
export interface Wake {
  /** Time until the next wake, in ms of the machine's own clock; at least 100. */
  readonly sleepMs: number;
  /**
   * Why this wake connected or tried to.
   *
   * `start`: first wake after power-on; `schedule`; `outbox`: half full; `alarm`; `asked`: by
   * `connect`; `firmware`: an update or trial continues. `none`: it did not connect.
   */
  readonly reason: "none" | "start" | "schedule" | "outbox" | "alarm" | "asked" | "firmware";
  /** The platform answered the device. */
  readonly connected: boolean;
  /** Nothing was left to do: all delivered, attributes read, no RPC or update pending. */
  readonly idle: boolean;
  /** Number of points delivered in this wake. */
  readonly delivered: number;
  /** Number of points still waiting for delivery. */
  readonly waiting: number;
  /**
   * Points that are lost uncounted at the sleep because neither flash nor store works. Usually 0.
   */
  readonly unkept: number;
  /** Time of network use in ms, including joining. */
  readonly radioMs: number;
  /**
   * Total network time per delivered point since power-on, in ms; undefined before the first point.
   */
  readonly radioMsPerPoint: number | undefined;
  /** Wakes since power-on, including this one. */
  readonly wakes: number;
  /** The agent requested a restart: do not sleep. */
  readonly restarting: boolean;
  /** State for the next wake: ASCII, at most 400 characters, no secret. */
  readonly kept: string;
}

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
  readonly time: TimeMemory;
  readonly update: UpdateMemory;
  readonly refusals: RefusalMemory;
}

const FORMAT = 1;
const STATE_LENGTH = 16;
/** Maximum interval between two attempts, give or take half, unless uploads are rarer anyway. */
const LONGEST_BACKOFF_MS = 6 * 3_600_000;

/** Parses the memory of the last wake. Defaults as after power-on if it is missing or invalid. */
export const readMemory = (host: Pick<Host, "encode" | "loops">, kept: string | undefined): Memory => {
  const stored = readStored(host, kept);
  return {
    wakes: stored.wakes,
    wakesLeft: stored.due,
    backoffWakes: stored.step,
    urgent: stored.urgent,
    sleepMs: stored.sleep,
    radioMs: stored.radio,
    points: stored.points,
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
});

const readStored = (host: Pick<Host, "encode" | "loops">, kept: string | undefined): Stored => {
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

/**
 * Sets when the next attempt is due, after a success or failure. `random01`: random number from 0
 * to 1.
 */
export const schedule = (
  memory: Memory,
  settings: CycleSettings,
  succeeded: boolean,
  random01: () => number,
): void => {
  const { everyMs, connectEvery } = settings;
  if (succeeded) {
    // Devices that were switched on together get different schedules.
    memory.wakesLeft = memory.wakes === 1 ? 1 + Math.floor(random01() * connectEvery) : connectEvery;
    memory.urgent = 0;
    memory.backoffWakes = connectEvery / 2;
  } else {
    const most = Math.max(connectEvery, Math.ceil(LONGEST_BACKOFF_MS / everyMs));
    memory.backoffWakes = Math.min(most, memory.backoffWakes * 2);
    memory.wakesLeft = Math.max(1, Math.round(memory.backoffWakes * (0.5 + random01())));
  }
};

export const writeMemory = (host: Pick<Host, "encode" | "loops">, memory: Memory): string => {
  const { time, update, refusals } = memory;
  const stored: Stored = {
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
