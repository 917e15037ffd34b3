// The points of a run: what the application recorded, what of it may be missing, and whether that
// is all that is missing.
import type { SimulatedRun } from "../simulated-run.js";

/** Points not on flash yet: for 1 s at the most, and then some. */
const STAGED_MS = 1500;
/** Within this time after storage works again the device has tried it. */
const HEALED_MS = 61_000;

export class Points {
  readonly #run: SimulatedRun;
  /** So far; each has its number as its value `n`. */
  recorded = 0;
  /** They were in memory only when the power went, or `record()` had not returned. */
  readonly excused = new Set<number>();
  readonly #recordedAt: number[] = [];
  /** The clock was set: time stamps may repeat. */
  clockSet = false;
  /** The blocks fail, or did in the last minute: from this point on some are in memory only. */
  #inMemoryFrom = Number.POSITIVE_INFINITY;
  #healedAt = Number.POSITIVE_INFINITY;
  /**
   * Points that ended with an orderly stop, as that returned: neither flash nor store took
   * anything.
   */
  ended = 0;
  /**
   * Refused, or given up as nobody could read them, while flash failed, and then the power went:
   * they come again as if nobody had judged them, and may come in part.
   */
  readonly #judgedAgain = new Set<number>();

  constructor(run: SimulatedRun) {
    this.#run = run;
  }

  record(points: number, poison = false): void {
    const { powerCycle, agent, world } = this.#run;
    for (let i = 0; i < points && powerCycle?.on; i++) {
      const n = this.recorded++;
      this.#recordedAt.push(world.clock.now());
      agent?.telemetry.record(poison && i === 0 ? { n, poison: "x" } : { n });
      if (!powerCycle.on) this.excused.add(n);
    }
  }

  /** The power of the device went at this instant. */
  powerLost(): void {
    const { world, body } = this.#run;
    const arrived = new Set(world.points);
    for (let n = this.#sure; n < this.recorded; n++) if (!arrived.has(n)) this.excused.add(n);
    if (this.#inMemoryFrom !== Number.POSITIVE_INFINITY) {
      for (const n of world.refusals.allowed) this.#judgedAgain.add(n);
      // Neither flash nor store could note which were given up.
      if (this.#storeFails)
        for (let n = 0; n < this.recorded; n++) if (!arrived.has(n)) this.#judgedAgain.add(n);
    }
    if (body.blocks.size > 0) this.#inMemoryFrom = Number.POSITIVE_INFINITY;
  }

  /**
   * The device was stopped in good order, and then ended: all that is missing is counted, but for
   * `ended` points.
   */
  stopped(ended: number): void {
    if (this.#run.body.blocks.size === 0) {
      this.powerLost();
      return;
    }
    this.ended += ended;
    this.#inMemoryFrom = Number.POSITIVE_INFINITY;
  }

  /** The device was reset. */
  forget(): void {
    const arrived = new Set(this.#run.world.points);
    for (let n = 0; n < this.recorded; n++) if (!arrived.has(n)) this.excused.add(n);
  }

  blocksFail(): void {
    this.#inMemoryFrom = Math.min(this.#inMemoryFrom, this.#lasting);
    this.#healedAt = Number.POSITIVE_INFINITY;
  }

  blocksWork(): void {
    this.#healedAt = Math.min(this.#healedAt, this.#run.world.clock.now());
  }

  /**
   * Points below this outlive a power loss, or are counted. While flash fails a count in the store
   * stands for them, a second old at most: if that works.
   */
  get #sure(): number {
    const { body, world } = this.#run;
    if (body.blocks.size === 0) return 0;
    const now = world.clock.now();
    const healed = now - this.#healedAt > HEALED_MS;
    if (healed || this.#inMemoryFrom === Number.POSITIVE_INFINITY) return this.#lasting;
    const counted = this.#storeFails ? 0 : this.#before(now - STAGED_MS);
    return Math.min(this.#lasting, Math.max(this.#inMemoryFrom, counted));
  }

  get #storeFails(): boolean {
    const { body, world } = this.#run;
    return world.clock.now() - body.storeFailedAt <= HEALED_MS;
  }

  /** Points below this are on flash, if that works. */
  get #lasting(): number {
    if (this.#run.options.telemetry?.durable) return this.recorded;
    return this.#before(this.#run.world.clock.now() - STAGED_MS);
  }

  /** Points below this were recorded before `time`. */
  #before(time: number): number {
    const at = this.#recordedAt.findIndex((when) => when >= time);
    return at < 0 ? this.recorded : at;
  }

  /** Those that did not arrive and are not excused. */
  get missing(): number[] {
    const arrived = new Set(this.#run.world.points);
    const missing: number[] = [];
    for (let n = 0; n < this.recorded; n++) if (!arrived.has(n) && !this.excused.has(n)) missing.push(n);
    return missing;
  }

  /** As the device reported to the platform. */
  get reported(): number {
    return Object.values(this.#run.world.dropped).reduce((sum, points) => sum + points, 0);
  }

  check(): void {
    this.#checkOrder();
    this.#checkStored();
    const { world } = this.#run;
    const { missing, reported } = this;
    if (missing.length > reported + this.ended)
      this.#run.fail(
        `${missing.length} points are missing, ${reported} reported as dropped: ${missing.slice(0, 5)}`,
      );
    const { moteDroppedFull = 0, moteDroppedUnreadable = 0 } = world.dropped;
    const unrefused = missing.filter((n) => !world.refusals.allowed.has(n));
    if (unrefused.length > moteDroppedFull + moteDroppedUnreadable + this.ended)
      this.#run.fail(
        `${unrefused.length} points are missing that no platform refused: ${unrefused.slice(0, 5)}`,
      );
  }

  /** A point may come again, but none for the first time behind a later one. */
  #checkOrder(): void {
    const { points, broughtBy, applied } = this.#run.world;
    // What failing flash keeps comes when it works again, behind what was recorded in memory
    // meanwhile.
    const ordered = !applied.has("flash unreadable");
    const arrived = new Set<number>();
    let last = -1;
    let newest = 0;
    points.forEach((n, i) => {
      if (arrived.has(n)) return;
      const connection = broughtBy[i] as number;
      // Sent before the later one, on a connection that was given up since: the network may be
      // slower with it.
      const late = n < last && connection >= newest && !this.#judgedAgain.has(n);
      if (ordered && late) this.#run.fail(`point ${n} came after ${last}`);
      if (n >= this.recorded) this.#run.fail(`point ${n} was never recorded`);
      arrived.add(n);
      last = n;
      newest = Math.max(newest, connection);
    });
  }

  /** The platform stores by key and time stamp: what shares one with another is gone. */
  #checkStored(): void {
    const { world } = this.#run;
    const { applied } = world;
    // Points of an unknown time that nobody could read for several starts are placed before the one
    // that can, wherever those were.
    const guessed = applied.has("flash unreadable") && applied.has("time unknown");
    if (this.clockSet || guessed || !world.device) return;
    const stored = new Set(world.platform.points(world.device, "n").map(({ value }) => value));
    const lost = world.points.filter((n) => !stored.has(n));
    if (lost.length > 0) this.#run.fail(`${lost.length} points were overwritten: ${lost.slice(0, 5)}`);
  }
}
