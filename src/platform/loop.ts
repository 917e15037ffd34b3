import type { Host, Redactor } from "../port.js";
import { Signal } from "./signal.js";

const RESTART_MS = 10_000;

/** ms until the next turn; 0: at once; undefined: wait to be notified. */
export type Wait = number | undefined;

/** The work of a loop. */
export interface Job {
  /** The session started, or a turn failed and the job starts again. */
  begin(): void;
  turn(): Wait | Promise<Wait>;
  /** The session stopped. */
  end?(): void;
}

/** The session, as far as a loop knows it. */
interface Running {
  readonly host: Host;
  readonly redactor: Redactor;
  readonly running: boolean;
}

/**
 * Runs the turns of a job while the session runs. An error in a job restarts it, so that a bug
 * cannot silence the agent. No function here is async, because each pending one costs a board 1 KB.
 * During a turn, the loop is the signal that the job may wait for.
 */
export class Loop extends Signal {
  private readonly _session: Running;
  private readonly _name: string;
  private readonly _job: Job;
  private _state: "over" | "busy" | "resting" | "failed" = "over";
  /** Cancels the timer. */
  private _cancel: (() => void) | undefined;
  private _onEnd: (() => void) | undefined;

  constructor(session: Running, name: string, job: Job) {
    super(session.host.clock);
    this._session = session;
    this._name = name;
    this._job = job;
  }

  /** Starts, unless running already. */
  start(): void {
    if (this._state === "over") this._run(true);
  }

  /** True while the loop waits for an event or a time. */
  get resting(): boolean {
    return this._state === "resting";
  }

  /** Resolves when the loop has ended, soon after the session stopped. Call once. */
  ended(): Promise<void> {
    if (this._state === "over") return Promise.resolve();
    return new Promise((resolve) => {
      this._onEnd = resolve;
    });
  }

  override notify(): void {
    if (this.resting || (this._state === "failed" && !this._session.running)) this._resume();
    else super.notify();
  }

  private _run(restarted: boolean): void {
    this._state = "busy";
    try {
      if (restarted) {
        this._job.begin();
        // All jobs begin before the first turn of any: what one wants of another goes into one
        // request.
        void Promise.resolve().then(() => this._run(false));
        return;
      }
      if (this._session.running) {
        const turn = Promise.resolve(this._job.turn());
        turn.then(
          (wait) => this._turnEnded(wait),
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

  /** A turn has ended. */
  private _turnEnded(wait: Wait): void {
    if (wait === 0 || !this._session.running || this.takeRaised()) {
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
    const what =
      error instanceof Error
        ? `${error.name}: ${this._session.redactor.clean(error.message).slice(0, 80)}`
        : "unknown";
    this._session.host.log("error", `the ${this._name} loop failed (${what}): restarting it in 10 s`);
    if (this._session.running) this._rest("failed", RESTART_MS);
    else this._ended();
  }

  private _ended(): void {
    this._state = "over";
    this._onEnd?.();
  }

  private _rest(state: "resting" | "failed", ms: Wait): void {
    this._state = state;
    if (ms !== undefined) this._cancel = this._session.host.clock.timer(ms, () => this._resume());
  }

  private _resume(): void {
    this._cancel?.();
    this._cancel = undefined;
    const restarted = this._state === "failed";
    this._state = "busy";
    // Run on a fresh stack, after the caller has returned.
    void Promise.resolve().then(() => this._run(restarted));
  }
}
