// A wake of a device that sleeps in between: what it is given, what it returns, and what it leaves for the next one.
import type { Host } from "../../port.js";
import { crc32 } from "../../wire/crypto/crc32.js";
import { parseObject } from "../../wire/text/json.js";
import type { UpdateMemory } from "../firmware/firmware.js";
import type { CycleSettings } from "../options/sleep-cycle.js";
import type { RefusalMemory } from "../telemetry/telemetry.js";

/** What `sample` gives: the values of a point, or `{ values, alarm }`; nothing is recorded for undefined and null. */
export type Sample =
  | Record<string, unknown>
  | { values: Record<string, unknown>; alarm?: boolean }
  | undefined
  | null;

/** What `runOnce` is given. Times in ms. */
export interface WakeOptions {
  /** All of it ends by then, from the call: connections are closed and the promise resolved. Default 30,000; a download or a new image on trial takes up to `cycle.updateMs`. */
  timeoutMs?: number | undefined;
  /**
   * The application's reading, recorded as one point: values as for `telemetry.record`, or `{ values, alarm: true }` for a point that must
   * leave now. May be async, with half of the deadline. What it throws is logged; the wake goes on without a point.
   */
  sample?: (() => Sample | Promise<Sample>) | undefined;
  /** Connects in this wake whatever is due. */
  connect?: boolean | undefined;
  /** Switches the radio on: called only in a wake that connects, before anything is sent. False, a rejection or no answer: no network. Default: there is one. */
  network?: (() => boolean | Promise<boolean>) | undefined;
  /** `kept` of the last wake, from memory that outlives the sleep. Without it, or if it makes no sense, this is the first wake after power-on. The same agent needs none. */
  kept?: string | undefined;
  /** How long it slept, by the machine's own clock, if it can measure that. Default: as long as it was asked to. */
  sleptMs?: number | undefined;
}

/** What `runOnce` returns. */
export interface Wake {
  /** How long to sleep until the next wake, in ms of the machine's own clock: 100 and more. */
  readonly sleepMs: number;
  /**
   * Why this wake connected, or tried to: `start`: first wake after power-on; `schedule`; `outbox`: half full; `alarm`; `asked`: by `connect`;
   * `firmware`: an update goes on, or is on trial. `none`: it did not.
   */
  readonly reason: "none" | "start" | "schedule" | "outbox" | "alarm" | "asked" | "firmware";
  /** The platform served the device. */
  readonly connected: boolean;
  /** Nothing was left to do: all delivered, attributes read, no RPC waiting, no update under way. */
  readonly idle: boolean;
  /** Points delivered in this wake, and points waiting. */
  readonly delivered: number;
  readonly waiting: number;
  /** Points of those that end with the sleep, uncounted: they are in memory only, as neither flash nor store takes anything. 0 as a rule. */
  readonly unkept: number;
  /** How long the network was in use, joining included, in ms. */
  readonly radioMs: number;
  /** The same since power-on, divided by all points delivered; undefined before the first. */
  readonly radioMsPerPoint: number | undefined;
  /** Wakes since power-on, this one included. */
  readonly wakes: number;
  /** The agent asked for a restart: don't sleep. */
  readonly restarting: boolean;
  /** For the next wake: ASCII, 400 characters at most, no secret. */
  readonly kept: string;
}

/** `kept`, read. Flags are 0 or 1. */
export interface Memory extends UpdateMemory, RefusalMemory {
  wakes: number;
  /** Wakes until the next that connects. */
  due: number;
  /** Wakes between this attempt and the next, if this one fails: doubled first. */
  step: number;
  /** An alarm, or somebody who asked, waits since an attempt that failed. */
  urgent: number;
  /** The time when the wake ended, ms since 1970; 0: not known. */
  at: number;
  ticks: number;
  /** Ticks of the power-on. */
  exactFrom: number;
  /** Asked for. */
  sleep: number;
  /** When the time was learnt last (the name is that of the stored member), ms since 1970 (0: never), and what passed since by the machine's own clock. */
  told: number;
  own: number;
  /** How long 1 ms of its own clock is. */
  rate: number;
  radio: number;
  points: number;
}

const FORMAT = 1;
const STATE_LENGTH = 16;
/** The longest between two attempts, give or take a half, unless uploads are rarer anyway. */
const LONGEST_BACKOFF_MS = 6 * 3_600_000;
/** The platform sends its time in whole seconds: what is measured over less says nothing of the machine's own clock. */
const MEASURED_MS = 600_000;
const WORST_DRIFT = 0.15;

/** That of the wake before; as after power-on if there is none that can be read. */
export const readMemory = (host: Pick<Host, "encode">, kept: string | undefined): Memory => {
  const memory: Memory = {
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
  };
  const text = typeof kept === "string" ? kept.slice(kept.indexOf("{")) : "";
  const before = kept === sealed(host, text) ? parseObject(text) : undefined;
  if (before?.format !== FORMAT) return memory;
  const found: Record<string, unknown> = {};
  for (const key of Object.keys(memory)) {
    const value = before[key];
    // Members that an older agent did not know.
    if (value === undefined) continue;
    if (key === "state" ? !isState(value) : !isCount(value, key)) return memory;
    found[key] = value;
  }
  return Object.assign(memory, found);
};

/** The time was learnt: `now`. How fast the machine's own clock runs shows from one such time to the next. */
export const measure = (memory: Memory, now: number): void => {
  if (memory.told !== 0 && memory.own < MEASURED_MS) return;
  const rate = (now - memory.told) / memory.own;
  if (memory.told !== 0 && Math.abs(rate - 1) < WORST_DRIFT) memory.rate = rate;
  memory.told = now;
  memory.own = 0;
};

/** In how many wakes the next attempt is, after one that came through or did not. `share` gives 0 to 1. */
export const schedule = (
  memory: Memory,
  settings: CycleSettings,
  through: boolean,
  share: () => number,
): void => {
  const { everyMs, connectEvery } = settings;
  if (through) {
    // Devices that were switched on together each have their own turn from now on.
    memory.due = memory.wakes === 1 ? 1 + Math.floor(share() * connectEvery) : connectEvery;
    memory.urgent = 0;
    memory.step = connectEvery / 2;
  } else {
    const most = Math.max(connectEvery, Math.ceil(LONGEST_BACKOFF_MS / everyMs));
    memory.step = Math.min(most, memory.step * 2);
    memory.due = Math.max(1, Math.round(memory.step * (0.5 + share())));
  }
};

export const writeMemory = (host: Pick<Host, "encode">, memory: Memory): string => {
  return sealed(host, JSON.stringify({ format: FORMAT, ...memory }));
};

/** Memory that outlives a sleep may not outlive a weak battery: a checksum stands before the text. */
const sealed = (host: Pick<Host, "encode">, text: string): string => {
  const bytes = host.encode(text);
  return crc32(bytes, 0, bytes.length) + text;
};

const isState = (value: unknown): boolean => {
  return typeof value === "string" && value.length <= STATE_LENGTH;
};

/** No memory is so odd that a device would sleep for ever on it. */
const isCount = (value: unknown, key: string): boolean => {
  if (typeof value !== "number" || !(value >= -1 && value < Number.MAX_SAFE_INTEGER)) return false;
  return key === "rate" ? value > 0.8 && value < 1.25 : true;
};
