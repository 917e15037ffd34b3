import type { Host } from "../port.js";
import { Signal } from "./signal.js";

const RESTART_MS = 10_000;

/** ms until the next turn, 0 for at once, undefined for "until it is woken". */
export type Wait = number | undefined;

/** For as long as what the loops belong to. */
export interface Runner {
  readonly host: Host;
  readonly running: boolean;
}

/** What a loop does. */
export interface Job {
  /** The session has started, or a turn failed and everything starts again. */
  begin(): void;
  turn(): Wait | Promise<Wait>;
  /** The session has stopped. */
  end?(): void;
}

/**
 * Takes the turns of a job for as long as the session runs. No function of it is async: one that waits takes a board 1 KB.
 * A mistake of the agent's own must not silence it: the job starts again. Within a turn it is the signal that the job may wait for.
 */
export class Loop extends Signal {
  private readonly _session: Runner;
  private readonly _name: string;
  private readonly _job: Job;
  private _state: "over" | "busy" | "resting" | "failed" = "over";
  /** Ends the rest's timer. */
  private _cancel: (() => void) | undefined;
  private _onEnd: (() => void) | undefined;

  constructor(session: Runner, name: string, job: Job) {
    super(session.host.clock);
    this._session = session;
    this._name = name;
    this._job = job;
  }

  /** Begins, unless it goes on already. */
  start(): void {
    if (this._state === "over") this._run(true);
  }

  /** Nothing is to be done before something happens, or a time is over. */
  get resting(): boolean {
    return this._state === "resting";
  }

  /** Resolves when it is over, which it is soon after the session stopped. To be called once. */
  ended(): Promise<void> {
    if (this._state === "over") return Promise.resolve();
    return new Promise((resolve) => {
      this._onEnd = resolve;
    });
  }

  override notify(): void {
    if (this.resting || (this._state === "failed" && !this._session.running)) this._wakeUp();
    else super.notify();
  }

  private _run(restarted: boolean): void {
    this._state = "busy";
    try {
      if (restarted) this._job.begin();
      if (this._session.running) {
        const turn = Promise.resolve(this._job.turn());
        turn.then(
          (wait) => this._took(wait),
          (error) => this._failed(error),
        );
        return;
      }
      this._job.end?.();
      this._ended();
    } catch (error) {
      this._failed(error);
    }
  }

  /** A turn is over. */
  private _took(wait: Wait): void {
    if (wait === 0 || !this._session.running || this.take()) {
      this._run(false);
      return;
    }
    try {
      this._rest("resting", wait);
    } catch (error) {
      this._failed(error);
    }
  }

  private _failed(error: unknown): void {
    const what = error instanceof Error ? `${error.name}: ${error.message.slice(0, 80)}` : "unknown";
    this._session.host.log("error", `the ${this._name} loop failed and starts again in 10 s (${what})`);
    if (this._session.running) this._rest("failed", RESTART_MS);
    else this._ended();
  }

  private _ended(): void {
    this._state = "over";
    this._onEnd?.();
  }

  private _rest(state: "resting" | "failed", ms: Wait): void {
    this._state = state;
    if (ms !== undefined) this._cancel = this._session.host.clock.timer(ms, () => this._wakeUp());
  }

  private _wakeUp(): void {
    this._cancel?.();
    this._cancel = undefined;
    const restarted = this._state === "failed";
    this._state = "busy";
    // Whoever woke it goes on first, and its stack is no longer below.
    void Promise.resolve().then(() => this._run(restarted));
  }
}
