// The shared attributes of a run: what they were on the platform and when, and what the application
// was notified of.
import type { Agent } from "../../../src/index.js";
import type { PowerCycle } from "../device.js";
import type { SimulatedRun } from "../simulated-run.js";

export const KEYS = ["interval", "limit", "mode", "größe"];
/**
 * Between a value on the platform and its notification: the slowest answer, a second look, a poll's
 * notification.
 */
const RECENT_MS = 120_000;

export class Shared {
  readonly #run: SimulatedRun;
  /** What the subscribers of this start were notified of last. */
  #seen = new Map<string, string | undefined>();
  /** Of each key: its values as JSON text (undefined: absent), oldest first. */
  readonly #history = new Map<string, { from: number; text: string | undefined }[]>();

  constructor(run: SimulatedRun) {
    this.#run = run;
    for (const key of KEYS) this.#history.set(key, [{ from: Number.NEGATIVE_INFINITY, text: undefined }]);
  }

  subscribe(agent: Agent, powerCycle: PowerCycle): void {
    this.#seen = new Map();
    for (const key of KEYS) {
      let first = true;
      agent.attributes.subscribe(key, (value) => {
        if (powerCycle.on) this.#notified(key, JSON.stringify(value), first);
      });
      first = false;
    }
  }

  #notified(key: string, text: string | undefined, first: boolean): void {
    const run = this.#run;
    run.note(`saw ${key} = ${text?.slice(0, 40)}`);
    if (!first && this.#seen.has(key) && this.#seen.get(key) === text)
      run.fail(`${key} was notified twice: ${text?.slice(0, 40)}`);
    this.#seen.set(key, text);
    // The first value, given at once, is what the device knew last.
    if (first) return;
    const since = run.world.clock.now() - RECENT_MS;
    const rows = this.#history.get(key)!;
    const was = rows.some((row, i) => row.text === text && (rows[i + 1]?.from ?? Infinity) >= since);
    if (!was) run.fail(`${key} was notified as ${text?.slice(0, 40)}, which it was not of late`);
  }

  /** The operator changes some. */
  change(): void {
    const { dice, world } = this.#run;
    if (!world.device) return;
    for (let changes = 1 + dice.below(3); changes > 0; changes--) {
      const value = dice.pick([dice.below(5), "on", "ü".repeat(900), true, { a: [1] }]);
      this.set(dice.pick(KEYS), dice.chance(0.3) ? undefined : value);
    }
  }

  /** Undefined deletes. */
  set(key: string, value: unknown): void {
    const { platform, device, clock } = this.#run.world;
    if (!device) return;
    if (value === undefined) platform.deleteShared(device, [key]);
    else platform.setShared(device, { [key]: value });
    const text = JSON.stringify(platform.attributes(device, "SHARED_SCOPE")[key]);
    this.#history.get(key)?.push({ from: clock.now(), text });
    this.#run.note(`set ${key}`);
  }

  /** Keys that the application sees otherwise than they are. */
  get wrong(): string[] {
    return KEYS.filter((key) => this.#history.get(key)?.at(-1)?.text !== this.#seen.get(key));
  }
}
