import { randomBytes } from "../fakes/host.js";

/** Chance of one seed. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomBytes(seed);
  }

  /** 0 to `limit`, that excluded. */
  below(limit: number): number {
    return ((this.#next() * 256 + this.#next()) * 256 + this.#next()) % limit;
  }

  chance(share: number): boolean {
    return this.below(1000) < share * 1000;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
