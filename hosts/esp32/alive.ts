import type { Host } from "../../src/port.js";

const LOOK_MS = 60_000;

/**
 * Restarts a board whose agent fell silent: the watchdog sees an engine that is stuck, not one that waits for what never comes. With a
 * network an agent that runs opens or uses a connection every ten minutes, even when the platform refuses it.
 */
export class Alive {
  readonly #host: Pick<Host, "clock" | "log" | "restart">;
  readonly #silenceMs: number;
  readonly #due: () => boolean;
  #last: number;

  /** `due`: whether anything can be expected, that is, there is a network and the agent runs. */
  constructor(host: Pick<Host, "clock" | "log" | "restart">, silenceMs: number, due: () => boolean) {
    this.#host = host;
    this.#silenceMs = silenceMs;
    this.#due = due;
    this.#last = host.clock.now();
    this.#look();
  }

  /** `open`, with every connection and what happens to it taken for a sign of life. */
  watch(open: Host["open"]): Host["open"] {
    return (name, port, secure, event) => {
      this.#sign();
      return open(name, port, secure, (what, reason) => {
        this.#sign();
        event(what, reason);
      });
    };
  }

  #sign(): void {
    this.#last = this.#host.clock.now();
  }

  #look(): void {
    this.#host.clock.timer(LOOK_MS, () => {
      if (!this.#due()) this.#sign();
      else if (this.#host.clock.now() - this.#last > this.#silenceMs) {
        this.#host.log("error", "the agent fell silent: restart");
        return this.#host.restart("silent");
      }
      this.#look();
    });
  }
}
