// Deletions with their ten seconds: a question, then a line with "Undo", then the call.
import { OperatorError } from "../operator/error.js";
import { ask, button, h, messageOf, tell } from "./dom.js";
import { type Deletion, Pending, type State, UNDO_MS } from "./model/pending.js";

export interface Sending {
  send(path: string, leaving: boolean): Promise<void>;
}

export class Deletions {
  readonly #pending: Pending;
  readonly #lines = new Map<string, () => void>();
  readonly #listeners = new Set<() => void>();

  constructor(sending: Sending) {
    this.#pending = new Pending({
      send: ({ path }, leaving) => sending.send(path, leaving),
      onState: (deletion, state, error) => this.#show(deletion, state, error),
      timer: (ms, callback) => {
        const id = setTimeout(callback, ms);
        return () => clearTimeout(id);
      },
    });
  }

  /** Whether the DELETE of that path waits. */
  has(path: string): boolean {
    return this.#pending.has(path);
  }

  /** When one begins to wait, is undone, sent or has failed; until the result is called. */
  on(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks first; true if it waits now. */
  async ask(deletion: Deletion, text: string): Promise<boolean> {
    if (!(await ask(`Delete ${deletion.name}?`, text, "Delete"))) return false;
    this.#pending.add(deletion);
    return true;
  }

  /** Sends what waits: the page goes away, or its session ends. */
  flush(leaving: boolean): Promise<void> {
    return this.#pending.flush(leaving);
  }

  #show(deletion: Deletion, state: State, error: unknown): void {
    this.#lines.get(deletion.path)?.();
    this.#lines.delete(deletion.path);
    if (state === "waiting") this.#lines.set(deletion.path, this.#countDown(deletion));
    if (state === "undone") tell(`${deletion.name} stays.`);
    if (state === "sent") tell(`${deletion.name} is deleted.`);
    if (state === "failed") {
      // Somebody else was faster.
      const isGone = error instanceof OperatorError && error.status === 404;
      tell(
        isGone ? `${deletion.name} is gone already.` : `${deletion.name} is not deleted: ${messageOf(error)}`,
        true,
      );
    }
    for (const listener of [...this.#listeners]) listener();
  }

  #countDown({ path, name }: Deletion): () => void {
    const until = Date.now() + UNDO_MS;
    // Read out once, not each second.
    const left = h("span", { aria: { hidden: "true" } });
    const draw = (): void => {
      left.textContent = ` ${Math.max(0, Math.ceil((until - Date.now()) / 1000))} s `;
    };
    const undo = button("Undo", () => this.#pending.undo(path));
    undo.ariaLabel = `Undo: keep ${name}`;
    const remove = tell(`${name} is going to be deleted.`, false, left, undo);
    const timer = setInterval(draw, 250);
    draw();
    // What was pressed is not there any more, or not to be pressed again.
    undo.focus();
    return () => {
      clearInterval(timer);
      const isFocused = document.activeElement === undo;
      remove();
      if (isFocused) document.querySelector("h1")?.focus();
    };
  }
}
