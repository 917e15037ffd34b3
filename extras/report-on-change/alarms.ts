// Decides when a value is an alarm: once when it passes a limit, not for each value beyond it. For
// a device with mains power and for one that sleeps:
//
//   const alarms = new Alarms(host, { temperature: { above: 30, hysteresis: 1, delayMs: 60_000 } });
//   if (alarms.check(reading)) agent.telemetry.record(reading);   // mains
//   return { values: reading, alarm: alarms.check(reading) };     // the sample of a wake
//
// The state of a key is stored when it changes, so it survives a sleep and a power loss:
//
//   [["temperature",1,1767225600000,1767225660000]]
import { MoteError } from "../../src/errors.js";
import type { Host } from "../../src/port.js";
import { readStored, type StoreHost, writeStored } from "../../src/store.js";
import { isObject } from "../../src/wire/text/json.js";

/** Limits of one key. At least one of `above` and `below`. */
export interface AlarmLimits {
  /** An alarm if the value is larger. */
  readonly above?: number | undefined;
  /** An alarm if the value is smaller. */
  readonly below?: number | undefined;
  /** The alarm ends when the value is back by this much within the limit. 0 to 1e15, default 0. */
  readonly hysteresis?: number | undefined;
  /** The value must be beyond the limit for this long, in ms. 0 to 604,800,000, default 0. */
  readonly delayMs?: number | undefined;
  /** Minimum time between two alarms of the key, in ms. 0 to 604,800,000, default 0. */
  readonly gapMs?: number | undefined;
}

/** The parts of a host that are used. */
export type AlarmsHost = StoreHost & Pick<Host, "clock">;

const KEY = "alarms";
const MOST_KEYS = 32;
const WEEK_MS = 604_800_000;
const NAMES = ["above", "below", "hysteresis", "delayMs", "gapMs"];
const LARGEST = 1e15;

/** `since`: start of the time beyond the limit, and `raisedAt`: the last alarm; -1: none. */
interface State {
  isRaised: boolean;
  since: number;
  raisedAt: number;
}

/** Alarms of any number of keys, at most 32. */
export class Alarms {
  private readonly _host: AlarmsHost;
  private readonly _limits: Record<string, AlarmLimits>;
  private readonly _states = new Map<string, State>();

  /** Throws `BAD_OPTIONS` with all mistakes. */
  constructor(host: AlarmsHost, limits: { readonly [key: string]: AlarmLimits }) {
    const wrong = problemsOf(limits);
    if (wrong.length > 0) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
    this._host = host;
    this._limits = Object.create(null);
    for (const key of Object.keys(limits)) {
      this._limits[key] = { ...limits[key] };
      this._states.set(key, { isRaised: false, since: -1, raisedAt: -1 });
    }
    this._restore();
  }

  /**
   * Takes values; true if one of them raises an alarm now. Values that are not numbers, and keys
   * without limits, change nothing.
   */
  check(values: Readonly<Record<string, unknown>>): boolean {
    const now = this._now();
    let raises = false;
    let changed = false;
    this._states.forEach((state, key) => {
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (typeof value !== "number" || !Number.isFinite(value)) return;
      const before = `${state.isRaised} ${state.since} ${state.raisedAt}`;
      if (apply(state, this._limits[key] as AlarmLimits, value, now)) raises = true;
      changed ||= before !== `${state.isRaised} ${state.since} ${state.raisedAt}`;
    });
    if (changed) this._save();
    return raises;
  }

  /** True while the key's last value is an alarm. */
  isRaised(key: string): boolean {
    return this._states.get(key)?.isRaised === true;
  }

  /** Survives a sleep, unless the time of day is unknown: then a delay begins again. */
  private _now(): number {
    return this._host.clock.wall() ?? this._host.clock.now();
  }

  private _save(): void {
    const rows: (string | number)[][] = [];
    this._states.forEach(({ isRaised, since, raisedAt }, key) => {
      rows.push([key, isRaised ? 1 : 0, since, raisedAt]);
    });
    writeStored(this._host, KEY, rows);
  }

  private _restore(): void {
    const rows = readStored(this._host, KEY);
    if (!Array.isArray(rows)) return;
    const now = this._now();
    for (const row of rows) {
      if (!Array.isArray(row)) continue;
      const [key, isRaised, since, raisedAt] = row;
      const state = this._states.get(key as string);
      if (!state || typeof since !== "number" || typeof raisedAt !== "number") continue;
      state.isRaised = isRaised === 1;
      // A time in the future is of another clock.
      state.since = since > now ? now : since;
      state.raisedAt = raisedAt > now ? now : raisedAt;
    }
  }
}

/** True if the value raises an alarm now. */
const apply = (state: State, limits: AlarmLimits, value: number, now: number): boolean => {
  const { above = Infinity, below = -Infinity, hysteresis = 0, delayMs = 0, gapMs = 0 } = limits;
  const isBeyond = value > above || value < below;
  if (state.isRaised) {
    // Between the limit and the hysteresis the alarm stays.
    if (!isBeyond && value <= above - hysteresis && value >= below + hysteresis) {
      state.isRaised = false;
      state.since = -1;
    }
    return false;
  }
  if (!isBeyond) {
    state.since = -1;
    return false;
  }
  if (state.since < 0) state.since = now;
  if (now - state.since < delayMs) return false;
  if (state.raisedAt >= 0 && now - state.raisedAt < gapMs) return false;
  state.isRaised = true;
  state.raisedAt = now;
  return true;
};

const problemsOf = (limits: unknown): string[] => {
  if (!isObject(limits)) return ["expected an object of keys and limits"];
  const keys = Object.keys(limits);
  if (keys.length > MOST_KEYS) return [`more than ${MOST_KEYS} keys`];
  return keys.flatMap((key) => {
    const one: unknown = limits[key];
    if (!isObject(one)) return [`${key} must be an object with ${NAMES.join(", ")}`];
    const wrong = Object.keys(one)
      .filter((name) => !NAMES.includes(name))
      .map((name) => `unknown option "${name}" (${key})`);
    const { above, below } = one;
    if (above === undefined && below === undefined) wrong.push(`${key} needs above or below`);
    if (typeof above === "number" && typeof below === "number" && below >= above)
      wrong.push(`${key}.below must be smaller than above`);
    for (const name of NAMES) {
      const least = name === "above" || name === "below" ? -LARGEST : 0;
      const most = name.endsWith("Ms") ? WEEK_MS : LARGEST;
      const value = one[name];
      const fits = value === undefined || (typeof value === "number" && value >= least && value <= most);
      if (!fits) wrong.push(`${key}.${name} must be a number from ${least} to ${most}`);
    }
    return wrong;
  });
};
