import type { Link } from "./link.js";
import { Signal } from "./signal.js";

const RESTART_MS = 10_000;

/** ms until the next turn, 0 for at once, undefined for "until it is woken". */
export type Wait = number | undefined;

/** What a loop does. */
export interface Job {
  /** The link has started, or a turn failed and all begins anew. */
  begin(): void;
  turn(): Wait | Promise<Wait>;
  /** The link has stopped. */
  end?(): void;
}

/**
 * Takes the turns of a job for as long as the link runs. Nothing of it is suspended while it rests: an async function that waits takes a board 1 KB.
 * A mistake of the agent's own must not silence it: the job begins anew. Within a turn it is the signal that the job may wait for.
 */
export class Loop extends Signal {
  readonly #link: Link;
  readonly #name: string;
  readonly #job: Job;
  #state: "over" | "busy" | "resting" | "failed" = "over";
  /** Ends the rest's timer. */
  #cancel: (() => void) | undefined;
  #onEnd: (() => void) | undefined;

  constructor(link: Link, name: string, job: Job) {
    super(link.host.clock);
    this.#link = link;
    this.#name = name;
    this.#job = job;
  }

  /** Begins, unless it goes on already. */
  start(): void {
    if (this.#state === "over") void this.#run(true);
  }

  /** Nothing is to be done before something happens, or a time is over. */
  get resting(): boolean {
    return this.#state === "resting";
  }

  /** Resolves when it is over, which it is soon after the link stopped. To be called once. */
  ended(): Promise<void> {
    if (this.#state === "over") return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  override notify(): void {
    if (this.resting || (this.#state === "failed" && !this.#link.running)) this.#wakeUp();
    else super.notify();
  }

  async #run(anew: boolean): Promise<void> {
    this.#state = "busy";
    try {
      if (anew) this.#job.begin();
      while (this.#link.running) {
        const wait = await this.#job.turn();
        if (wait === 0 || !this.#link.running || this.take()) continue;
        this.#rest("resting", wait);
        return;
      }
      this.#job.end?.();
    } catch (error) {
      const what = error instanceof Error ? `${error.name}: ${error.message.slice(0, 80)}` : "unknown";
      this.#link.host.log("error", `the ${this.#name} loop failed and begins anew in 10 s (${what})`);
      if (this.#link.running) {
        this.#rest("failed", RESTART_MS);
        return;
      }
    }
    this.#state = "over";
    this.#onEnd?.();
  }

  #rest(state: "resting" | "failed", ms: Wait): void {
    this.#state = state;
    if (ms !== undefined) this.#cancel = this.#link.host.clock.timer(ms, () => this.#wakeUp());
  }

  #wakeUp(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const anew = this.#state === "failed";
    this.#state = "busy";
    // Whoever woke it goes on first, and its stack is no longer below.
    void Promise.resolve().then(() => this.#run(anew));
  }
}
