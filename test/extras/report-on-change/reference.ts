// Report rules as they are described, with every number of a window kept, and all of it looked at each time.
import { isDeepStrictEqual } from "node:util";
import type { ReportRule } from "../../../extras/report-on-change/index.js";
import { type Recorded, WALL } from "./rig.js";

/** Numbers are tenths, so that the reference can compare them without rounding. */
export const TENTH = 10;

export const RULES: Record<string, ReportRule> = {
  band: { onChange: 0.3 },
  beat: { heartbeatMs: 700 },
  both: { onChange: 0, heartbeatMs: 1000 },
  wide: { onChangePercent: 20, onChange: 0.2 },
  window: { windowMs: 500 },
  all: { onChange: 1, heartbeatMs: 900, windowMs: 400 },
};
export const KEYS = [...Object.keys(RULES), "free"];
export const LONG = "x".repeat(63);

interface Memory {
  rule: ReportRule;
  reported: unknown;
  reportedAt: number;
  last: unknown;
  numbers: number[];
  endAt: number;
}

/** JSON of more than 64 characters, and what is no JSON, is not remembered. */
const rememberable = (value: unknown): boolean =>
  typeof value !== "bigint" && JSON.stringify(value).length <= 64;
const fresh = (rule: ReportRule): Memory => ({
  rule,
  reported: undefined,
  reportedAt: Number.NEGATIVE_INFINITY,
  last: undefined,
  numbers: [],
  endAt: 0,
});

const freshKeys = (): Map<string, Memory> =>
  new Map(Object.entries(RULES).map(([key, rule]) => [key, fresh(rule)]));

/** What is to be recorded. */
export class Reference {
  now = 0;
  /** The wall clock is `now` plus this. */
  wallAt: number | undefined = WALL;
  full = false;
  keys = freshKeys();
  expected: Recorded[] = [];
  /** What is in the store, when it was written, and the wall clock then. */
  #kept: { at: number; wall: number | undefined; keys: Map<string, Memory> } | undefined;

  #report(values: Record<string, unknown>, ts?: number): boolean {
    if (!this.full) this.expected.push({ at: this.now, values, ...(ts !== undefined && { ts }) });
    return !this.full;
  }

  #end(key: string, memory: Memory): void {
    const { numbers } = memory;
    const late = this.now - memory.endAt;
    const ts = late >= 1000 && this.wallAt !== undefined ? this.now + this.wallAt - late : undefined;
    memory.numbers = [];
    const tenths = numbers.reduce((sum, number) => sum + Math.round(number * TENTH), 0);
    const mean = tenths / TENTH / numbers.length;
    const [min, max] = [Math.min(...numbers), Math.max(...numbers)];
    this.#report(
      { [`${key}_min`]: min, [`${key}_max`]: max, [`${key}_mean`]: mean, [`${key}_count`]: numbers.length },
      ts,
    );
  }

  #beatAt({ rule, last, reportedAt }: Memory): number {
    return rule.heartbeatMs === undefined || last === undefined
      ? Number.POSITIVE_INFINITY
      : reportedAt + rule.heartbeatMs;
  }

  #keep(): void {
    const wall = this.wallAt === undefined ? undefined : this.now + this.wallAt;
    this.#kept = { at: this.now, wall, keys: structuredClone(this.keys) };
  }

  #reportDue(): void {
    let reported = false;
    for (const [key, memory] of this.keys) {
      if (memory.numbers.length > 0 && memory.endAt <= this.now) {
        reported = true;
        this.#end(key, memory);
      }
      if (this.#beatAt(memory) > this.now) continue;
      reported = true;
      memory.reportedAt = this.now;
      if (this.#report({ [key]: memory.last })) memory.reported = memory.last;
    }
    if (reported) this.#keep();
  }

  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      this.#reportDue();
      const dues = [...this.keys.values()].flatMap((memory) => [
        memory.numbers.length > 0 ? memory.endAt : Number.POSITIVE_INFINITY,
        this.#beatAt(memory),
      ]);
      const next = Math.min(...dues);
      if (next > end) break;
      this.now = next;
    }
    this.now = end;
  }

  #wants({ rule, reported, reportedAt }: Memory, value: unknown): boolean {
    const { onChange, onChangePercent, heartbeatMs, windowMs } = rule;
    if (!rememberable(value)) return true;
    if (heartbeatMs !== undefined && this.now - reportedAt >= heartbeatMs) return true;
    const asked = onChange !== undefined || onChangePercent !== undefined;
    if (!asked && (windowMs === undefined || typeof value === "number")) return false;
    if (typeof value !== "number" || typeof reported !== "number") return !isDeepStrictEqual(value, reported);
    // In whole numbers of a thousandth, which nothing rounds.
    const distance = Math.abs(Math.round(value * TENTH) - Math.round(reported * TENTH)) * 100;
    const percent = Math.abs(Math.round(reported * TENTH)) * (onChangePercent ?? 0);
    return distance > 0 && distance >= Math.max(Math.round((onChange ?? 0) * TENTH) * 100, percent);
  }

  record(values: Record<string, unknown>): boolean {
    const reported: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(values)) {
      const memory = this.keys.get(key);
      if (memory && memory.numbers.length > 0 && memory.endAt <= this.now) this.#end(key, memory);
      if (!memory || this.#wants(memory, value))
        reported[key] = typeof value === "bigint" ? Number(value) : value;
    }
    const taken = Object.keys(reported).length === 0 || this.#report(reported);
    for (const [key, value] of Object.entries(values)) {
      const memory = this.keys.get(key);
      if (!memory) continue;
      const kept = rememberable(value) ? value : undefined;
      memory.last = kept;
      if (key in reported) memory.reportedAt = this.now;
      if (key in reported && taken) memory.reported = kept;
      if (memory.rule.windowMs === undefined || typeof value !== "number") continue;
      if (memory.numbers.length === 0) memory.endAt = this.now + memory.rule.windowMs;
      memory.numbers.push(value);
    }
    this.#reportDue();
    this.#keep();
    return taken;
  }

  flush(): void {
    for (const [key, memory] of this.keys) if (memory.numbers.length > 0) this.#end(key, memory);
    this.#keep();
  }

  forget(key: string): void {
    const memory = this.keys.get(key);
    if (memory) Object.assign(memory, { reported: undefined, last: undefined });
    this.#keep();
  }

  /** A start after `ms` without power. */
  off(ms: number, wallAt: number | undefined, keep: boolean): void {
    this.now += ms;
    this.wallAt = wallAt;
    this.keys = freshKeys();
    if (!keep || !this.#kept) return;
    const { at, wall, keys } = this.#kept;
    // What nobody knows the length of took no time.
    const passed = wall === undefined || wallAt === undefined ? 0 : Math.max(0, this.now + wallAt - wall);
    const later = this.now - at - passed;
    for (const [key, memory] of structuredClone(keys)) {
      const { windowMs } = memory.rule;
      const endAt = Math.min(memory.endAt + later, this.now + (windowMs ?? 0) - passed);
      this.keys.set(key, { ...memory, reportedAt: memory.reportedAt + later, endAt });
    }
  }
}
