import { Backoff } from "../net/backoff.js";
import type { Host } from "../port.js";

/** A token good for so long is told again when it is refused. */
const NEWS_MS = 10 * 60_000;

/**
 * How soon to ask again about a token that was refused. One that is found good and refused again, because some requests are answered
 * otherwise than others, is asked about ever more slowly, and told once.
 */
export class TokenRefusals {
  readonly #host: Host;
  readonly #backoff: Backoff;
  #readyAt = 0;
  #told = false;

  constructor(host: Host) {
    this.#host = host;
    this.#backoff = new Backoff(host);
  }

  /** The token was found good. */
  ready(): void {
    this.#readyAt = this.#host.clock.now();
  }

  /** It is refused: `waitMs` before it is asked about; `isNews` if that is to be told. */
  refused(): { waitMs: number; isNews: boolean } {
    if (this.#host.clock.now() - this.#readyAt >= NEWS_MS) {
      this.#backoff.reset();
      this.#told = false;
    }
    const isNews = !this.#told;
    this.#told = true;
    return { waitMs: this.#backoff.next(), isNews };
  }
}
