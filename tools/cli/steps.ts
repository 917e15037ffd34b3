// The steps of a command. After Ctrl-C it lists the steps done and not done.
import { INTERRUPTED } from "../exit-codes.js";
import { some } from "./output/table.js";

export class Steps {
  readonly #done: string[] = [];
  readonly #open = new Set<string>();
  readonly #left: string[] = [];
  /** Note on the steps in progress. */
  remark: string | undefined;

  /** Announces steps by the names that `run` gets. */
  plan(...names: string[]): void {
    this.#left.push(...names);
  }

  begin(name: string): void {
    const at = this.#left.indexOf(name);
    if (at >= 0) this.#left.splice(at, 1);
    this.#open.add(name);
  }

  /** Marks a step as done; `called` renames it, for example after a failure. */
  end(name: string, called = name): void {
    this.#open.delete(name);
    this.#done.push(called);
  }

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.begin(name);
    try {
      const result = await work();
      this.end(name);
      return result;
    } catch (error) {
      this.#open.delete(name);
      throw error;
    }
  }

  /** Lists the steps done, possibly done, and not started. */
  get summary(): string {
    const parts = ["interrupted"];
    if (this.#done.length > 0) parts.push(`done: ${some(this.#done)}`);
    if (this.#open.size > 0) parts.push(`in progress, possibly done: ${some([...this.#open])}`);
    if (this.#open.size > 0 && this.remark !== undefined) parts.push(this.remark);
    if (this.#left.length > 0) parts.push(`not started: ${some(this.#left)}`);
    if (parts.length === 1) parts.push("nothing changed");
    return parts.join("; ");
  }
}

/** While `work` runs, Ctrl-C prints the summary and exits with 130. */
export async function interruptible<T>(steps: Steps, work: () => Promise<T>): Promise<T> {
  const end = (): void => {
    process.stderr.write(`${steps.summary}\n`, () => process.exit(INTERRUPTED));
  };
  process.once("SIGINT", end);
  try {
    return await work();
  } finally {
    process.off("SIGINT", end);
  }
}
