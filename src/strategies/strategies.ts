// Decides which values become telemetry: on change, by heartbeat, as windows. Times are those of the host's monotonic clock, so that a
// clock that is set cuts no window short; one timer serves all keys.
import type { Agent } from "../agent/agent.js";
import { MoteError } from "../agent/errors.js";
import type { Host } from "../port.js";
import { restore, save } from "./saved.js";
import { checkTable, MOST_KEYS, restrains, type Strategy, type Table } from "./strategy.js";
import { type Mark, summary, Track } from "./track.js";

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
   * next start takes them up, so that neither a deep sleep nor a cut of the power ends them; what fell due meanwhile is told with the next
   * value. Default: false. Windows under way are lost then, and each key's next value is its first.
   */
  readonly keep?: boolean | undefined;
}

const OPTIONS = ["keys", "attribute", "keep"];
/** Characters of the JSON text of what is no number; what is longer is reported each time, and not repeated by a heartbeat. */
const MARK_LENGTH = 64;
/** A window that is told later than that, after a sleep, gets the time stamp of its end. */
const LATE_MS = 1000;
/** Before 2001 a clock was never set. */
const LEAST_WALL = 1_000_000_000_000;
const WHY_LENGTH = 200;
/** The longest text that a number of a summary may have. */
const LONGEST = -(2 ** 63) + 1024;

/** The strategies of one agent; to be made after it, before the first value. */
export class Strategies {
  readonly #agent: StrategiesAgent;
  readonly #host: StrategiesHost;
  readonly #builtIn: Record<string, Strategy>;
  readonly #tracks = new Map<string, Track>();
  readonly #ends: (() => void)[] = [];
  #keeps = false;
  #kept = true;
  #closed = false;
  #armedFor = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /** Throws `BAD_OPTIONS` with all that is wrong, `BAD_VALUE` for an attribute that can't be asked for. */
  constructor(agent: StrategiesAgent, host: StrategiesHost, options: StrategiesOptions = {}) {
    this.#agent = agent;
    this.#host = host;
    const { keys = {}, attribute, keep = false } = options;
    const unknown = Object.keys(options).filter((name) => !OPTIONS.includes(name));
    const wrong = unknown.map((name) => `there is no option "${name}"`);
    wrong.push(...this.#flaws(keys).map((flaw) => `keys: ${flaw}`));
    if (attribute !== undefined && typeof attribute !== "string") wrong.push("attribute is a text");
    if (typeof keep !== "boolean") wrong.push("keep is true or false");
    if (wrong.length > 0) throw new MoteError("BAD_OPTIONS", wrong.join("; "));
    // The application's own object may change; this one does not.
    this.#builtIn = Object.create(null);
    for (const key of Object.keys(keys)) this.#builtIn[key] = { ...keys[key] };
    this.#apply(this.#builtIn);
    if (attribute !== undefined)
      this.#ends.push(agent.attributes.subscribe(attribute, (value) => this.#set(attribute, value)));
    if (keep) restore(host, this.#tracks);
    // Not before: the attribute's strategies are set above, and must not take the place of what was kept.
    this.#keeps = keep;
    this.#arm();
    // Asked for: no window is lost by it.
    this.#ends.push(agent.on("restart", () => this.flush()));
  }

  /**
   * Takes values as `telemetry.record` does, and records those that the strategies of their keys ask for, as one point of now.
   * False if there was something to record and it was dropped at once. Throws as `telemetry.record`, and `STOPPED` after `close`; nothing
   * is kept then.
   */
  record(values: Record<string, unknown>): boolean {
    if (this.#closed) throw new MoteError("STOPPED", "the strategies were closed");
    this.#agent.telemetry.check(values);
    const now = this.#host.clock.now();
    const keys = Object.keys(values);
    const wanted: Record<string, unknown> = Object.create(null);
    for (const key of keys) {
      const track = this.#tracks.get(key);
      if (track && track.count > 0 && track.endAt <= now) this.#end(track, now);
      if (!track || track.wants(this.#mark(values[key]), now)) wanted[key] = values[key];
    }
    const taken = Object.keys(wanted).length === 0 || this.#agent.telemetry.record(wanted);
    for (const key of keys) {
      const track = this.#tracks.get(key);
      track?.take(this.#mark(values[key]), now, Object.hasOwn(wanted, key) ? taken : undefined);
    }
    // After a sleep what else is due; its timer may come behind the next sleep.
    this.#tellDue();
    this.#arm();
    this.#keep();
    return taken;
  }

  /** Ends all windows now and records them; their counts say how much of them there was. */
  flush(): void {
    const now = this.#host.clock.now();
    for (const track of this.#tracks.values()) if (track.count > 0) this.#end(track, now);
    this.#keep();
  }

  /** Nothing more is known of the key, as of a sensor that fails: no heartbeat repeats its last value. A window goes on to its end. */
  forget(key: string): void {
    const track = this.#tracks.get(key);
    if (track) Object.assign(track, { reported: undefined, last: undefined });
    this.#keep();
  }

  /** Ends all windows and records them, lets go of the timer and of the attribute. */
  close(): void {
    this.flush();
    this.#closed = true;
    this.#cancel?.();
    for (const end of this.#ends.splice(0)) end();
  }

  #set(attribute: string, value: unknown): void {
    const table = value === undefined ? {} : value;
    const flaws = this.#flaws(table);
    const all = flaws.length === 0 ? merged(this.#builtIn, table as Table) : {};
    if (Object.keys(all).length > MOST_KEYS)
      flaws.push(`with what is built in, there are more than ${MOST_KEYS} keys`);
    const why = flaws.join("; ").slice(0, WHY_LENGTH);
    if (why === "") this.#apply(all);
    else this.#host.log("warn", `shared attribute "${attribute}" is not taken: ${why}`);
    this.#arm();
    this.#keep();
    this.#agent.attributes.publish({ [`${attribute}Error`]: why });
  }

  #flaws(table: unknown): string[] {
    return checkTable(table, (key) => {
      try {
        this.#agent.telemetry.check(summary(key, [LONGEST, LONGEST, LONGEST, LONGEST]));
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : "a key can't be used";
      }
    });
  }

  /** What is known of a key outlives a new strategy; a window does only if it is as long as before. */
  #apply(table: Table): void {
    const now = this.#host.clock.now();
    for (const track of this.#tracks.values()) {
      const next = Object.hasOwn(table, track.key) ? table[track.key]! : {};
      if (track.count > 0 && next.windowMs !== track.strategy.windowMs) this.#end(track, now);
      if (!restrains(next)) this.#tracks.delete(track.key);
    }
    for (const key of Object.keys(table)) {
      const strategy = table[key]!;
      const track = this.#tracks.get(key);
      if (track) track.strategy = strategy;
      else if (restrains(strategy)) this.#tracks.set(key, new Track(key, strategy));
    }
  }

  #mark(value: unknown): Mark {
    if (typeof value === "number") return value;
    if (typeof value === "boolean") return String(value);
    if (typeof value === "bigint" || (typeof value === "string" && value.length > MARK_LENGTH))
      return undefined;
    // As the agent writes it, whatever `toJSON` says.
    const text = this.#host.decode(this.#agent.telemetry.check({ v: value }))?.slice(5, -1);
    return text === undefined || text.length > MARK_LENGTH ? undefined : text;
  }

  #end(track: Track, now: number): void {
    const late = now - track.endAt;
    const ts = late < LATE_MS ? undefined : Math.floor((this.#host.clock.wall() ?? 0) - late);
    this.#agent.telemetry.record(track.end(), ts !== undefined && ts >= LEAST_WALL ? { ts } : {});
  }

  #beat(track: Track, now: number): void {
    const { last } = track;
    const value: unknown = typeof last === "string" ? JSON.parse(last) : last;
    track.reportedAt = now;
    if (this.#agent.telemetry.record({ [track.key]: value })) track.reported = last;
  }

  /** True if there was anything. */
  #tellDue(): boolean {
    let told = false;
    const now = this.#host.clock.now();
    for (const track of this.#tracks.values()) {
      if (track.dueAt > now) continue;
      told = true;
      if (track.count > 0 && track.endAt <= now) this.#end(track, now);
      if (track.beatAt <= now) this.#beat(track, now);
    }
    return told;
  }

  #keep(): void {
    if (!this.#keeps) return;
    const kept = save(this.#host, this.#tracks.values());
    if (!kept && this.#kept)
      this.#host.log("error", "what strategies keep for a sleep does not fit into the store");
    this.#kept = kept;
  }

  /** For the earliest that is due. One that is armed too early finds nothing to do, which costs less than a new timer for each value. */
  #arm(): void {
    let at = Number.POSITIVE_INFINITY;
    for (const track of this.#tracks.values()) at = Math.min(at, track.dueAt);
    if (at >= this.#armedFor || this.#closed) return;
    this.#cancel?.();
    this.#armedFor = at;
    const { clock } = this.#host;
    this.#cancel = clock.timer(Math.max(0, Math.ceil(at - clock.now())), () => {
      this.#armedFor = Number.POSITIVE_INFINITY;
      try {
        if (this.#tellDue()) this.#keep();
      } catch {
        this.#host.log("error", "what was due by its strategy could not be recorded");
      }
      this.#arm();
    });
  }
}

function merged(one: Table, other: Table): Table {
  return Object.assign(Object.create(null), one, other);
}
