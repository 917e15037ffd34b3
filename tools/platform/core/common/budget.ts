/** Memory budget in bytes, shared by stores, so that the platform's state stays bounded. */
export class Budget {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  fits(bytes: number): boolean {
    return this.#used + bytes <= this.#limit;
  }

  take(bytes: number): void {
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}
