import type { Budget } from "./common/budget.js";
import { type Journal, NO_JOURNAL } from "./journal.js";
import { sameValue, type Value, valueSize } from "./values.js";

export const SCOPES = ["CLIENT_SCOPE", "SHARED_SCOPE", "SERVER_SCOPE"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Attribute {
  value: Value;
  /** Milliseconds since 1970. */
  ts: number;
}

const ENTRY = 100;

/** Attributes of one device, by scope. What the budget can't hold is not kept. */
export class AttributeStore {
  readonly #scopes: Record<Scope, Map<string, Attribute>> = {
    CLIENT_SCOPE: new Map(),
    SHARED_SCOPE: new Map(),
    SERVER_SCOPE: new Map(),
  };
  readonly #budget: Budget;
  readonly #journal: Journal;
  readonly #deviceId: string;

  constructor(budget: Budget, deviceId = "", journal: Journal = NO_JOURNAL) {
    this.#budget = budget;
    this.#deviceId = deviceId;
    this.#journal = journal;
  }

  get(scope: Scope, key: string): Attribute | undefined {
    return this.#scopes[scope].get(key);
  }

  /** Of the keys named, those there are; all of them if no keys are named. */
  list(scope: Scope, keys?: readonly string[]): [string, Attribute][] {
    const entries = this.#scopes[scope];
    if (!keys) return [...entries];
    const found: [string, Attribute][] = [];
    for (const key of new Set(keys)) {
      const entry = entries.get(key);
      if (entry) found.push([key, entry]);
    }
    return found;
  }

  /** An unchanged value keeps its time. */
  set(scope: Scope, key: string, value: Value, ts: number): void {
    const entries = this.#scopes[scope];
    const old = entries.get(key);
    if (sameValue(old?.value, value)) return;
    const size = ENTRY + key.length * 2 + valueSize(value);
    if (!this.#budget.fits(size)) return;
    if (old) this.#budget.give(this.#size(key, old));
    this.#budget.take(size);
    const attribute = { value, ts };
    entries.set(key, attribute);
    this.#journal.attribute(this.#deviceId, scope, key, attribute);
  }

  delete(scope: Scope, key: string): void {
    const old = this.#scopes[scope].get(key);
    if (!old) return;
    this.#budget.give(this.#size(key, old));
    this.#scopes[scope].delete(key);
    this.#journal.attribute(this.#deviceId, scope, key, undefined);
  }

  /** Gives back what the budget lent. */
  clear(): void {
    for (const scope of SCOPES) for (const key of [...this.#scopes[scope].keys()]) this.delete(scope, key);
  }

  #size(key: string, { value }: Attribute): number {
    return ENTRY + key.length * 2 + valueSize(value);
  }
}
