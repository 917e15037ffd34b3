// Deletions: a question, then the request.
import { OperatorError } from "../operator/error.js";
import { ask, messageOf, showToast } from "./dom.js";

/** One call of the platform's REST. */
export interface Deletion {
  /** Path and query of its DELETE. */
  readonly path: string;
  /** For messages: `device pump-7`. */
  readonly name: string;
}

export class Deletions {
  readonly #send: (path: string) => Promise<void>;
  readonly #running = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(send: (path: string) => Promise<void>) {
    this.#send = send;
  }

  /** Whether a deletion of this path is under way. */
  has(path: string): boolean {
    return this.#running.has(path);
  }

  /** Calls the listener at each change of a deletion, until the result is called. */
  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks, deletes, and says what became of it. */
  async ask({ path, name }: Deletion, text: string): Promise<void> {
    if (!(await ask(`Delete ${name}?`, text, "Delete")) || this.has(path)) return;
    this.#running.add(path);
    this.#changed();
    try {
      await this.#send(path);
      showToast(`Deleted ${name}.`);
    } catch (error) {
      const isGone = error instanceof OperatorError && error.status === 404;
      const failed = `Could not delete ${name}: ${messageOf(error)}`;
      showToast(isGone ? `${name} was already deleted.` : failed, true);
    }
    this.#running.delete(path);
    this.#changed();
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
