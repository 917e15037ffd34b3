// What the lines of a state file amount to: a later line replaces or removes what earlier ones
// brought.

/** The path, and what is there; without it, all below the path is gone. */
export type Line = readonly [path: readonly string[], value?: unknown];
type Branch = Map<string, unknown>;

export class Stored {
  readonly #root: Branch = new Map();

  take([path, value]: Line): void {
    const parents = path.slice(0, -1);
    let branch = this.#root;
    for (const name of parents) {
      const next = branch.get(name) ?? new Map<string, unknown>();
      if (!(next instanceof Map)) throw new TypeError("a path leads through a value");
      branch.set(name, next);
      branch = next;
    }
    const last = path.at(-1);
    if (typeof last !== "string") throw new TypeError("a line without a path");
    if (value === undefined) branch.delete(last);
    else branch.set(last, value);
  }

  get(...path: readonly string[]): unknown {
    return path.reduce<unknown>((at, name) => (at instanceof Map ? at.get(name) : undefined), this.#root);
  }

  /** What is below a path, in the order in which it came there first. */
  below(...path: readonly string[]): [string, unknown][] {
    const branch = this.get(...path);
    return branch instanceof Map ? [...branch] : [];
  }

  /** As few lines as bring it back. */
  *lines(path: readonly string[] = []): Generator<Line> {
    for (const [name, value] of this.below(...path)) {
      const at = [...path, name];
      if (value instanceof Map) yield* this.lines(at);
      else yield [at, value];
    }
  }
}
