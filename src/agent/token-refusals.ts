import { Backoff } from "../net/backoff.js";
import type { Host } from "../port.js";

/** A token good for so long is told again when it is refused. */
const NEWS_MS = 10 * 60_000;

/**
 * How soon to ask again about a token that was refused. One that is found good and refused again, because some requests are answered
 * otherwise than others, is asked about ever more slowly, and told once.
 */
export class TokenRefusals {
  private readonly _host: Host;
  private readonly _backoff: Backoff;
  private _readyAt = 0;
  private _told = false;

  constructor(host: Host) {
    this._host = host;
    this._backoff = new Backoff(host);
  }

  /** The token was found good. */
  ready(): void {
    this._readyAt = this._host.clock.now();
  }

  /** It is refused: `waitMs` before it is asked about; `isNews` if that is to be told. */
  refused(): { waitMs: number; isNews: boolean } {
    if (this._host.clock.now() - this._readyAt >= NEWS_MS) {
      this._backoff.reset();
      this._told = false;
    }
    const isNews = !this._told;
    this._told = true;
    return { waitMs: this._backoff.next(), isNews };
  }
}
