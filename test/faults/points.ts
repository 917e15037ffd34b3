// The points of a story: what the application recorded, what of it may be missing, and whether that is all that is missing.
import type { Story } from "./stories.js";

/** Points not on flash yet: for 1 s at the most, and then some. */
const STAGED_MS = 1500;

export class Points {
  readonly #story: Story;
  /** So far; each has its number as its value `n`. */
  recorded = 0;
  /** They were in memory only when the power went, or `record()` had not returned. */
  readonly excused = new Set<number>();
  readonly #recordedAt: number[] = [];
  /** The clock was set: time stamps may repeat. */
  clockSet = false;
  /** The blocks failed in this life: from this point on it goes on in memory. */
  #inMemoryFrom = Number.POSITIVE_INFINITY;

  constructor(story: Story) {
    this.#story = story;
  }

  record(points: number, poison = false): void {
    const { life, agent, world } = this.#story;
    for (let i = 0; i < points && life?.alive; i++) {
      const n = this.recorded++;
      this.#recordedAt.push(world.clock.now());
      agent?.telemetry.record(poison && i === 0 ? { n, poison: "x" } : { n });
      if (!life.alive) this.excused.add(n);
    }
  }

  /** The device's life ended at this instant. */
  cut(): void {
    const { world, body } = this.#story;
    const arrived = new Set(world.points);
    const kept = body.blocks.size > 0 ? Math.min(this.#lasting, this.#inMemoryFrom) : 0;
    for (let n = kept; n < this.recorded; n++) if (!arrived.has(n)) this.excused.add(n);
    this.#inMemoryFrom = Number.POSITIVE_INFINITY;
  }

  /** The device was reset. */
  forget(): void {
    const arrived = new Set(this.#story.world.points);
    for (let n = 0; n < this.recorded; n++) if (!arrived.has(n)) this.excused.add(n);
  }

  blocksFail(): void {
    this.#inMemoryFrom = Math.min(this.#inMemoryFrom, this.#lasting);
  }

  /** What is on flash waits for the next start. */
  get inMemory(): boolean {
    return this.#inMemoryFrom < Number.POSITIVE_INFINITY;
  }

  /** Points below this are on flash, if that works. */
  get #lasting(): number {
    if (this.#story.options.telemetry?.durable) return this.recorded;
    const before = this.#story.world.clock.now() - STAGED_MS;
    const at = this.#recordedAt.findIndex((when) => when >= before);
    return at < 0 ? this.recorded : at;
  }

  /** Those that did not arrive and are not excused. */
  get missing(): number[] {
    const arrived = new Set(this.#story.world.points);
    const missing: number[] = [];
    for (let n = 0; n < this.recorded; n++) if (!arrived.has(n) && !this.excused.has(n)) missing.push(n);
    return missing;
  }

  /** As the platform was told. */
  get told(): number {
    return Object.values(this.#story.world.dropped).reduce((sum, points) => sum + points, 0);
  }

  check(): void {
    this.#checkOrder();
    this.#checkStored();
    const { world } = this.#story;
    const { missing, told } = this;
    if (missing.length > told)
      this.#story.fail(
        `${missing.length} points are missing, ${told} told as dropped: ${missing.slice(0, 5)}`,
      );
    const { moteDroppedFull = 0, moteDroppedUnreadable = 0 } = world.dropped;
    const unrefused = missing.filter((n) => !world.refusals.allowed.has(n));
    if (unrefused.length > moteDroppedFull + moteDroppedUnreadable)
      this.#story.fail(
        `${unrefused.length} points are missing that no platform refused: ${unrefused.slice(0, 5)}`,
      );
  }

  /** A point may come again, but none for the first time behind a later one. */
  #checkOrder(): void {
    // What failing flash keeps comes when it works again, behind what was recorded in memory meanwhile.
    const ordered = !this.#story.world.applied.has("flash fails");
    const arrived = new Set<number>();
    let last = -1;
    for (const n of this.#story.world.points) {
      if (arrived.has(n)) continue;
      if (ordered && n < last) this.#story.fail(`point ${n} came after ${last}`);
      if (n >= this.recorded) this.#story.fail(`point ${n} was never recorded`);
      arrived.add(n);
      last = n;
    }
  }

  /** The platform stores by key and time stamp: what shares one with another is gone. */
  #checkStored(): void {
    const { world } = this.#story;
    if (this.clockSet || !world.device) return;
    const stored = new Set(world.platform.points(world.device, "n").map(({ value }) => value));
    const lost = world.points.filter((n) => !stored.has(n));
    if (lost.length > 0) this.#story.fail(`${lost.length} points were overwritten: ${lost.slice(0, 5)}`);
  }
}
