// Deletions that can still be undone. Each is sent after ten seconds, or at once when the page is
// left.

export const UNDO_MS = 10_000;

/** One call of the platform's REST. */
export interface Deletion {
  /** Path and query of its DELETE. */
  readonly path: string;
  /** For messages: `device pump-7`. */
  readonly name: string;
}

export type State = "waiting" | "undone" | "sent" | "failed";

export interface Options {
  /** `leaving`: the page goes away, so nothing can wait for the answer. */
  send(deletion: Deletion, leaving: boolean): Promise<void>;
  /** Called at each step; `error` with `failed`. */
  onState(deletion: Deletion, state: State, error?: unknown): void;
  /** Calls back after so long, unless the result is called. */
  timer(ms: number, callback: () => void): () => void;
}

export class Pending {
  readonly #options: Options;
  readonly #waiting = new Map<string, { deletion: Deletion; stop: () => void }>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether a deletion of this path is pending. */
  has(path: string): boolean {
    return this.#waiting.has(path);
  }

  /** Does nothing if it is pending already. */
  add(deletion: Deletion): void {
    if (this.has(deletion.path)) return;
    const stop = this.#options.timer(UNDO_MS, () => void this.#send(deletion, false));
    this.#waiting.set(deletion.path, { deletion, stop });
    this.#options.onState(deletion, "waiting");
  }

  undo(path: string): void {
    const entry = this.#waiting.get(path);
    if (!entry) return;
    entry.stop();
    this.#waiting.delete(path);
    this.#options.onState(entry.deletion, "undone");
  }

  /** Sends all pending deletions. */
  async flush(leaving: boolean): Promise<void> {
    await Promise.all([...this.#waiting.values()].map(({ deletion }) => this.#send(deletion, leaving)));
  }

  async #send(deletion: Deletion, leaving: boolean): Promise<void> {
    this.#waiting.get(deletion.path)?.stop();
    this.#waiting.delete(deletion.path);
    try {
      await this.#options.send(deletion, leaving);
    } catch (error) {
      this.#options.onState(deletion, "failed", error);
      return;
    }
    this.#options.onState(deletion, "sent");
  }
}
