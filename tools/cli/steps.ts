// What a command changes, step by step: Ctrl-C says what of it was done and what was not.
import { INTERRUPTED } from "../../hosts/node/exit.js";
import { plain } from "./output/table.js";

/** Of many, so many are named. */
const NAMED = 5;

export class Steps {
  readonly #done: string[] = [];
  readonly #open = new Set<string>();
  readonly #left: string[] = [];
  /** What holds of that which is under way. */
  remark: string | undefined;

  /** What is to come, each by the name that `run` gets. */
  plan(...names: string[]): void {
    this.#left.push(...names);
  }

  begin(name: string): void {
    const at = this.#left.indexOf(name);
    if (at >= 0) this.#left.splice(at, 1);
    this.#open.add(name);
  }

  /** It is done, and called otherwise now if it did not go well. */
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

  /** One sentence for each of what was done, may have been done, and was not begun. */
  get summary(): string {
    const parts = ["interrupted"];
    if (this.#done.length > 0) parts.push(`done: ${some(this.#done)}`);
    if (this.#open.size > 0) parts.push(`under way, and perhaps done: ${some([...this.#open])}`);
    if (this.#open.size > 0 && this.remark !== undefined) parts.push(this.remark);
    if (this.#left.length > 0) parts.push(`not begun: ${some(this.#left)}`);
    if (parts.length === 1) parts.push("nothing was changed");
    return parts.join("; ");
  }
}

function some(names: readonly string[]): string {
  const more = names.length - NAMED;
  const shown = names.slice(0, NAMED).map(plain).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Has Ctrl-C end the process with 130 and the sentence of these steps, until the work is over. */
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
