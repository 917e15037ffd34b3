import type { Clock } from "../core/common/clock.js";
import { generator, type Random } from "../core/common/random.js";
import { Refused } from "../core/common/refused.js";
import { EFFECTS, type Effect, ENDS, FITTING, type Occasion } from "./effects.js";
import { fits } from "./glob.js";
import type { FaultName, FaultPost, FaultRule, Match } from "./shapes.js";

/** A rule that is switched on, and what it did so far. */
export interface ActiveFault extends FaultRule {
  readonly id: number;
  readonly seed: number;
  /** Requests that it was for. */
  seen: number;
  /** Times that it happened. */
  done: number;
}

interface Entry {
  readonly active: ActiveFault;
  readonly random: Random;
}

/** The faults of one request, in order. */
export interface Plan {
  readonly names: readonly FaultName[];
  /** The fault that ends the request comes last. */
  readonly effects: readonly Effect[];
  readonly delayMs: number;
  readonly isUnstored: boolean;
}

const MOST = 100;
/** Between the seeds of two rules. */
const STEP = 0x9e3779b9;

/** Faults of the device API. The same rules and requests give the same faults. */
export class Switchboard {
  readonly #clock: Clock;
  readonly #entries: Entry[] = [];
  #nextId = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws Refused if there are too many. */
  add({ seed, faults }: FaultPost): void {
    if (this.#entries.length + faults.length > MOST)
      throw new Refused(`at most ${MOST} faults can be active: clear them with DELETE /api/faults`);
    for (const rule of faults) {
      const id = this.#nextId++;
      const random = generator(seed + Math.imul(id, STEP));
      const active = { id, ...rule, seed, seen: 0, done: 0 };
      this.#entries.push({ active, random });
    }
  }

  list(): ActiveFault[] {
    return this.#entries.map(({ active }) => ({ ...active }));
  }

  clear(): void {
    this.#entries.length = 0;
    this.#nextId = 1;
  }

  /** Undefined without a fault. */
  plan(occasion: Occasion): Plan | undefined {
    const names: FaultName[] = [];
    const effects: Effect[] = [];
    let end: Effect | undefined;
    for (const entry of this.#entries) {
      const { active: rule, random } = entry;
      const ends = ENDS.has(rule.fault);
      if ((ends && end) || !happens(entry, occasion)) continue;
      const effect = EFFECTS[rule.fault]({ rule, occasion, random, now: this.#clock.now() });
      names.push(rule.fault);
      if (ends) end = effect;
      else effects.push(effect);
    }
    if (end) effects.push(end);
    if (names.length === 0) return undefined;
    return {
      ...{ names, effects, isUnstored: effects.some((effect) => effect.isUnstored) },
      delayMs: effects.reduce((all, { delayMs = 0 }) => all + delayMs, 0),
    };
  }
}

function happens({ active, random }: Entry, occasion: Occasion): boolean {
  if (active.count !== undefined && active.done >= active.count) return false;
  if (!isFor(active.match, occasion) || FITTING[active.fault]?.(occasion) === false) return false;
  active.seen++;
  if (active.seen <= active.skip) return false;
  if (active.probability < 1 && random(2 ** 32) >= active.probability * 2 ** 32) return false;
  active.done++;
  return true;
}

function isFor(match: Match, { method, path, device }: Occasion): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== method) return false;
  if (match.path !== undefined && !fits(match.path, path)) return false;
  return match.device === undefined || match.device === device;
}
