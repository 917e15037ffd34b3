// Decides which values become telemetry: on change, by heartbeat, as windows. Times are those of the host's monotonic clock, so that a
// clock that is set cuts no window short; one timer serves all keys.
import type { Agent } from "../../src/agent/agent.js";
import { MoteError } from "../../src/errors.js";
import type { Host } from "../../src/port.js";
import { restore, save } from "./saved.js";
import { checkTable, MOST_KEYS, restrains, type Strategy, type Table } from "./strategy.js";
import { type Comparable, summary, Track } from "./track.js";

/** What is asked of an agent. */
export interface StrategiesAgent {
  readonly telemetry: Pick<Agent["telemetry"], "check" | "record">;
  readonly attributes: Pick<Agent["attributes"], "publish" | "subscribe">;
  readonly on: Agent["on"];
}

/** What is asked of a host. */
export type StrategiesHost = Pick<Host, "clock" | "store" | "encode" | "decode" | "log">;

export interface StrategiesOptions {
  /** By key, 32 at most, those of the attribute included. Other keys are reported each time. */
  readonly keys?: { readonly [key: string]: Strategy } | undefined;
  /**
   * A shared attribute that holds such an object and takes the place of what is built in, key by key; without it, or without a key in it, what
   * is built in holds again. One with a mistake changes nothing. The client attribute ATTRIBUTEError says what is wrong with it; empty: nothing.
   */
  readonly attribute?: string | undefined;
  /**
   * For a device that sleeps between values. True: what was reported and the windows under way are in the store when a call returns, one write each, and the
   * next start takes them up, so that neither a deep sleep nor a power loss ends them; what fell due meanwhile is reported with the next
   * value. Default: false. Windows under way are lost then, and each key's next value is its first.
   */
  readonly keep?: boolean | undefined;
}

const OPTIONS = ["keys", "attribute", "keep"];
/** Characters of the JSON text of what is no number; what is longer is reported each time, and not repeated by a heartbeat. */
const COMPARABLE_LENGTH = 64;
/** A window that is reported later than that, after a sleep, gets the time stamp of its end. */
const LATE_MS = 1000;
/** Before 2001 a clock was never set. */
const LEAST_WALL = 1_000_000_000_000;
const WHY_LENGTH = 200;
/** The longest text that a number of a summary may have. */
const LONGEST = -(2 ** 63) + 1024;

/** The strategies of one agent; to be made after it, before the first value. */
export class Strategies {
  private readonly _agent: StrategiesAgent;
  private readonly _host: StrategiesHost;
  private readonly _builtIn: Record<string, Strategy>;
  private readonly _tracks = new Map<string, Track>();
  private readonly _ends: (() => void)[] = [];
  private _keeps = false;
  private _stored = true;
  private _closed = false;
  private _armedFor = Number.POSITIVE_INFINITY;
  private _cancel: (() => void) | undefined;

  /** Throws `BAD_OPTIONS` with all that is wrong, `BAD_VALUE` for an attribute that can't be asked for. */
  constructor(agent: StrategiesAgent, host: StrategiesHost, options: StrategiesOptions = {}) {
    this._agent = agent;
    this._host = host;
    const { keys = {}, attribute, keep = false } = options;
    const unknown = Object.keys(options).filter((name) => !OPTIONS.includes(name));
    const wrong = unknown
      .map((name) => `unknown option "${name}"`)
      .concat(this._problems(keys).map((problem) => `keys: ${problem}`));
    if (attribute !== undefined && typeof attribute !== "string") wrong.push("attribute is a text");
    if (typeof keep !== "boolean") wrong.push("keep is true or false");
    if (wrong.length > 0) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
    // The application's own object may change; this one does not.
    this._builtIn = Object.create(null);
    for (const key of Object.keys(keys)) this._builtIn[key] = { ...keys[key] };
    this._apply(this._builtIn);
    if (attribute !== undefined)
      this._ends.push(agent.attributes.subscribe(attribute, (value) => this._set(attribute, value)));
    if (keep) restore(host, this._tracks);
    // Not before: the attribute's strategies are set above, and must not take the place of what was kept.
    this._keeps = keep;
    this._arm();
    // Asked for: no window is lost by it.
    this._ends.push(agent.on("restart", () => this.flush()));
  }

  /**
   * Takes values as `telemetry.record` does, and records those that the strategies of their keys ask for, as one point of now.
   * False if there was something to record and it was dropped at once. Throws as `telemetry.record`, and `STOPPED` after `close`; nothing
   * is kept then.
   */
  record(values: Record<string, unknown>): boolean {
    if (this._closed) throw new MoteError("STOPPED", "the strategies were closed");
    this._agent.telemetry.check(values);
    const now = this._host.clock.now();
    const keys = Object.keys(values);
    const wanted: Record<string, unknown> = Object.create(null);
    for (const key of keys) {
      const track = this._tracks.get(key);
      if (track && track.count > 0 && track.endAt <= now) this._end(track, now);
      if (!track || track.wants(this._comparable(values[key]), now)) wanted[key] = values[key];
    }
    const taken = Object.keys(wanted).length === 0 || this._agent.telemetry.record(wanted);
    for (const key of keys) {
      const track = this._tracks.get(key);
      track?.take(this._comparable(values[key]), now, Object.hasOwn(wanted, key) ? taken : undefined);
    }
    // After a sleep what else is due; its timer may come behind the next sleep.
    this._reportDue();
    this._arm();
    this._keep();
    return taken;
  }

  /** Ends all windows now and records them; their counts say how much of them there was. */
  flush(): void {
    const now = this._host.clock.now();
    for (const track of this._tracks.values()) if (track.count > 0) this._end(track, now);
    this._keep();
  }

  /** Nothing more is known of the key, as of a sensor that fails: no heartbeat repeats its last value. A window goes on to its end. */
  forget(key: string): void {
    const track = this._tracks.get(key);
    if (track) Object.assign(track, { reported: undefined, last: undefined });
    this._keep();
  }

  /** Ends all windows and records them, lets go of the timer and of the attribute. */
  close(): void {
    this.flush();
    this._closed = true;
    this._cancel?.();
    for (const end of this._ends.splice(0)) end();
  }

  private _set(attribute: string, value: unknown): void {
    const table = value === undefined ? {} : value;
    const problems = this._problems(table);
    const all = problems.length === 0 ? merged(this._builtIn, table as Table) : {};
    if (Object.keys(all).length > MOST_KEYS)
      problems.push(`with what is built in, there are more than ${MOST_KEYS} keys`);
    const why = problems.join("; ").slice(0, WHY_LENGTH);
    if (why === "") this._apply(all);
    else this._host.log("warn", `shared attribute "${attribute}" is not taken: ${why}`);
    this._arm();
    this._keep();
    this._agent.attributes.publish({ [`${attribute}Error`]: why });
  }

  private _problems(table: unknown): string[] {
    return checkTable(table, (key) => {
      try {
        this._agent.telemetry.check(summary(key, [LONGEST, LONGEST, LONGEST, LONGEST]));
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : "a key can't be used";
      }
    });
  }

  /** What is known of a key outlives a new strategy; a window does only if it is as long as before. */
  private _apply(table: Table): void {
    const now = this._host.clock.now();
    for (const track of this._tracks.values()) {
      const next = Object.hasOwn(table, track.key) ? table[track.key]! : {};
      if (track.count > 0 && next.windowMs !== track.strategy.windowMs) this._end(track, now);
      if (!restrains(next)) this._tracks.delete(track.key);
    }
    for (const key of Object.keys(table)) {
      const strategy = table[key]!;
      const track = this._tracks.get(key);
      if (track) track.strategy = strategy;
      else if (restrains(strategy)) this._tracks.set(key, new Track(key, strategy));
    }
  }

  private _comparable(value: unknown): Comparable {
    if (typeof value === "number") return value;
    if (typeof value === "boolean") return String(value);
    if (typeof value === "bigint" || (typeof value === "string" && value.length > COMPARABLE_LENGTH))
      return undefined;
    // As the agent writes it, whatever `toJSON` says.
    const text = this._host.decode(this._agent.telemetry.check({ v: value }))?.slice(5, -1);
    return text === undefined || text.length > COMPARABLE_LENGTH ? undefined : text;
  }

  private _end(track: Track, now: number): void {
    const late = now - track.endAt;
    const ts = late < LATE_MS ? undefined : Math.floor((this._host.clock.wall() ?? 0) - late);
    this._agent.telemetry.record(track.end(), ts !== undefined && ts >= LEAST_WALL ? { ts } : {});
  }

  private _beat(track: Track, now: number): void {
    const { last } = track;
    const value: unknown = typeof last === "string" ? JSON.parse(last) : last;
    track.reportedAt = now;
    if (this._agent.telemetry.record({ [track.key]: value })) track.reported = last;
  }

  /** True if there was anything. */
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

  private _keep(): void {
    if (!this._keeps) return;
    const kept = save(this._host, this._tracks.values());
    if (!kept && this._stored)
      this._host.log("error", "what strategies keep for a sleep does not fit into the store");
    this._stored = kept;
  }

  /** For the earliest that is due. One that is armed too early finds nothing to do, which costs less than a new timer for each value. */
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
        if (this._reportDue()) this._keep();
      } catch {
        this._host.log("error", "what was due by its strategy could not be recorded");
      }
      this._arm();
    });
  }
}

const merged = (one: Table, other: Table): Table => {
  return Object.assign(Object.create(null), one, other);
};
