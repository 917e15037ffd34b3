// Deletions: a question, then ten seconds with an Undo button, then the request.
import { OperatorError } from "../operator/error.js";
import { ask, button, h, messageOf, showToast } from "./dom.js";
import { type Deletion, Pending, type State, UNDO_MS } from "./model/pending.js";

export class Deletions {
  readonly #pending: Pending;
  readonly #lines = new Map<string, () => void>();
  readonly #listeners = new Set<() => void>();

  constructor(send: (path: string, leaving: boolean) => Promise<void>) {
    this.#pending = new Pending({
      send: ({ path }, leaving) => send(path, leaving),
      onState: (deletion, state, error) => this.#show(deletion, state, error),
      timer: (ms, callback) => {
        const id = setTimeout(callback, ms);
        return () => clearTimeout(id);
      },
    });
  }

  /** Whether a deletion of this path is pending. */
  has(path: string): boolean {
    return this.#pending.has(path);
  }

  /** Calls the listener at each change of a deletion, until the result is called. */
  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks first. True if the deletion is now pending. */
  async ask(deletion: Deletion, text: string): Promise<boolean> {
    if (!(await ask(`Delete ${deletion.name}?`, text, "Delete"))) return false;
    this.#pending.add(deletion);
    return true;
  }

  /** Sends all pending deletions, as the page is left or the session ends. */
  flush(leaving: boolean): Promise<void> {
    return this.#pending.flush(leaving);
  }

  #show(deletion: Deletion, state: State, error: unknown): void {
    this.#lines.get(deletion.path)?.();
    this.#lines.delete(deletion.path);
    if (state === "waiting") this.#lines.set(deletion.path, this.#countDown(deletion));
    if (state === "undone") showToast(`Kept ${deletion.name}.`);
    if (state === "sent") showToast(`Deleted ${deletion.name}.`);
    if (state === "failed") {
      const isGone = error instanceof OperatorError && error.status === 404;
      showToast(
        isGone
          ? `${deletion.name} was already deleted.`
          : `Could not delete ${deletion.name}: ${messageOf(error)}`,
        true,
      );
    }
    for (const listener of [...this.#listeners]) listener();
  }

  #countDown({ path, name }: Deletion): () => void {
    const until = Date.now() + UNDO_MS;
    // A screen reader announces the message once, not every second.
    const left = h("span", { aria: { hidden: "true" } });
    const draw = (): void => {
      left.textContent = ` ${Math.max(0, Math.ceil((until - Date.now()) / 1000))} s `;
    };
    const undo = button("Undo", () => this.#pending.undo(path));
    undo.ariaLabel = `Undo: keep ${name}`;
    const remove = showToast(`Deleting ${name} in`, false, left, undo);
    const timer = setInterval(draw, 250);
    draw();
    undo.focus();
    return () => {
      clearInterval(timer);
      const isFocused = document.activeElement === undo;
      remove();
      if (isFocused) document.querySelector("h1")?.focus();
    };
  }
}
