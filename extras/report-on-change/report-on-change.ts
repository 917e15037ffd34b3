// Decides which values become telemetry: on change, by heartbeat, or as windows. Uses the host's
// monotonic clock, so that setting the clock does not cut windows short. One timer serves all keys.
import type { Agent } from "../../src/agent/agent.js";
import { MoteError } from "../../src/errors.js";
import type { Host } from "../../src/port.js";
import { quoteShortened } from "../../src/wire/text/text.js";
import { encodeValues } from "../../src/wire/values.js";
import { checkRules, hasRule, type ReportRule } from "./rule.js";
import { restore, save } from "./saved.js";
import { type Comparable, summary, Track } from "./track.js";

/** The parts of an agent that are used. */
export interface ReportOnChangeAgent {
  readonly telemetry: Pick<Agent["telemetry"], "check" | "record">;
  readonly on: Agent["on"];
}

/** The parts of a host that are used. */
export type ReportOnChangeHost = Pick<Host, "clock" | "store" | "encode" | "decode" | "log">;

export interface ReportOnChangeOptions {
  /** Rules by key, at most 32. Other keys are reported each time. */
  readonly keys: { readonly [key: string]: ReportRule };
  /**
   * Whether state survives deep sleep and power loss, for a device that sleeps between values.
   *
   * True: each call stores the reported values and open windows in one write, and the next start
   * continues with them. Reports that became due meanwhile are sent with the next value. False
   * (default): open windows are lost, and each key's next value is its first.
   */
  readonly keep?: boolean | undefined;
}

const OPTIONS = ["keys", "keep"];
/**
 * Maximum length of a non-number's JSON text. Longer values are reported each time, and never by
 * heartbeat.
 */
const COMPARABLE_LENGTH = 64;
/** A window that is reported later than this, after a sleep, gets the time stamp of its end. */
const LATE_MS = 1000;
/** Before 2001, a clock was never set. */
const LEAST_WALL = 1_000_000_000_000;
/** The maximum length of a number in a summary. */
const LONGEST = -(2 ** 63) + 1024;
const END_OF_NUMBERS = 2 ** 63;
/** Marks a value that telemetry leaves out. */
const LEFT_OUT = Symbol("left out");

/** Sends values when they change, by heartbeat or as windows. Create it before the first value. */
export class ReportOnChange {
  private readonly _agent: ReportOnChangeAgent;
  private readonly _host: ReportOnChangeHost;
  private readonly _tracks = new Map<string, Track>();
  private readonly _unsubscribe: () => void;
  private readonly _keeps: boolean;
  private _closed = false;
  private _armedFor = Number.POSITIVE_INFINITY;
  private _cancel: (() => void) | undefined;

  /** Throws `BAD_OPTIONS` with all mistakes. */
  constructor(agent: ReportOnChangeAgent, host: ReportOnChangeHost, options: ReportOnChangeOptions) {
    this._agent = agent;
    this._host = host;
    const { keys, keep = false } = options;
    const wrong = Object.keys(options)
      .filter((name) => !OPTIONS.includes(name))
      .map((name) => `unknown option "${name}"`)
      .concat(checkRules(keys, (key) => this._keyProblem(key)).map((problem) => `keys: ${problem}`));
    if (typeof keep !== "boolean") wrong.push("keep must be true or false");
    if (wrong.length > 0) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
    for (const key of Object.keys(keys)) {
      // A copy, because the application may change its object.
      const rule = { ...keys[key] };
      if (hasRule(rule)) this._tracks.set(key, new Track(key, rule));
    }
    this._keeps = keep;
    if (keep) restore(host, this._tracks);
    this._arm();
    // A requested restart loses no window.
    this._unsubscribe = agent.on("restart", () => this.flush());
  }

  /**
   * Takes values like `telemetry.record`, and records those that are due as one point.
   *
   * A value that telemetry leaves out changes nothing here. False if no value is left, or if a
   * point was dropped at once. Throws like `telemetry.record`, and `STOPPED` after `close`; nothing
   * is recorded then.
   */
  record(values: Record<string, unknown>): boolean {
    if (this._closed) throw new MoteError("STOPPED", "report on change is closed");
    const { telemetry } = this._agent;
    const isEmpty = telemetry.check(values) === undefined;
    const now = this._host.clock.now();
    const keys = Object.keys(values);
    const wanted: Record<string, unknown> = Object.create(null);
    for (const key of keys) {
      const track = this._tracks.get(key);
      if (track && track.count > 0 && track.endAt <= now) this._end(track, now);
      const value = track && this._comparable(values[key]);
      if (track && value !== LEFT_OUT && !track.wants(value, now)) continue;
      // Telemetry counts what it leaves out.
      wanted[key] = values[key];
    }
    const isWanted = Object.keys(wanted).length > 0;
    const taken = !isWanted || telemetry.record(wanted) || telemetry.check(wanted) === undefined;
    for (const key of keys) {
      const track = this._tracks.get(key);
      const value = track && this._comparable(values[key]);
      if (value === LEFT_OUT) continue;
      track?.take(value, now, Object.hasOwn(wanted, key) ? taken : undefined);
    }
    // After a sleep, report other due values too, because the timer may fire only after the next
    // sleep.
    this._reportDue();
    this._arm();
    this._save();
    return taken && !isEmpty;
  }

  /** Ends and records all windows early; their counts show how many values they have. */
  flush(): void {
    const now = this._host.clock.now();
    for (const track of this._tracks.values()) if (track.count > 0) this._end(track, now);
    this._save();
  }

  /**
   * Forgets the last value of the key, for example when its sensor fails, so that no heartbeat
   * repeats it. An open window continues.
   */
  forget(key: string): void {
    this._tracks.get(key)?.forget();
    this._save();
  }

  /** Ends and records all windows; releases the timer. */
  close(): void {
    this.flush();
    this._closed = true;
    this._cancel?.();
    this._unsubscribe();
  }

  private _keyProblem(key: string): string | undefined {
    const longest = summary(key, [LONGEST, LONGEST, LONGEST, LONGEST]);
    const encoded = encodeValues(longest);
    if (!encoded.ok || encoded.leftOut) return encoded.leftOut?.named[0]?.reason;
    const written = this._agent.telemetry.check(longest);
    const isWhole = written && this._host.decode(written) === encoded.text;
    return isWhole ? undefined : `${quoteShortened(key)} is too large for one request`;
  }

  private _comparable(value: unknown): Comparable | typeof LEFT_OUT {
    if (typeof value === "number") return Math.abs(value) < END_OF_NUMBERS ? value : LEFT_OUT;
    if (typeof value === "boolean") return String(value);
    // The text that the agent writes, regardless of `toJSON`.
    const written = this._agent.telemetry.check({ v: value });
    if (!written) return LEFT_OUT;
    if (typeof value === "bigint") return undefined;
    const text = this._host.decode(written)?.slice(5, -1);
    return text === undefined || text.length > COMPARABLE_LENGTH ? undefined : text;
  }

  private _end(track: Track, now: number): void {
    const late = now - track.endAt;
    const ts = late < LATE_MS ? undefined : Math.floor((this._host.clock.wall() ?? 0) - late);
    this._agent.telemetry.record(track.end(), ts !== undefined && ts >= LEAST_WALL ? { ts } : {});
  }

  private _beat(track: Track, now: number): void {
    if (this._agent.telemetry.record({ [track.key]: track.beat(now) })) track.beaten();
  }

  /** True if anything was reported. */
  private _reportDue(): boolean {
    let reported = false;
    const now = this._host.clock.now();
    for (const track of this._tracks.values()) {
      if (track.dueAt > now) continue;
      reported = true;
      if (track.count > 0 && track.endAt <= now) this._end(track, now);
      if (track.beatAt <= now) this._beat(track, now);
    }
    return reported;
  }

  private _save(): void {
    if (this._keeps) save(this._host, this._tracks.values());
  }

  /**
   * Sets the timer to the earliest due time. A timer that fires too early is cheaper than a new one
   * for each value.
   */
  private _arm(): void {
    let at = Number.POSITIVE_INFINITY;
    for (const track of this._tracks.values()) at = Math.min(at, track.dueAt);
    if (at >= this._armedFor || this._closed) return;
    this._cancel?.();
    this._armedFor = at;
    const { clock } = this._host;
    this._cancel = clock.timer(Math.max(0, Math.ceil(at - clock.now())), () => {
      this._armedFor = Number.POSITIVE_INFINITY;
      try {
        if (this._reportDue()) this._save();
      } catch {
        this._host.log("error", "report on change: could not record a value that was due");
      }
      this._arm();
    });
  }
}
