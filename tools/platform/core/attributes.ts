import { type Journal, NO_JOURNAL } from "./journal.js";
import { valueToText } from "./value-text.js";
import { sameValue, type Value } from "./values.js";

export const SCOPES = ["CLIENT_SCOPE", "SHARED_SCOPE", "SERVER_SCOPE"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Attribute {
  value: Value;
  /** Milliseconds since 1970. */
  ts: number;
}

/** Of one scope; further ones are not kept. */
const MOST = 10_000;

/** Attributes of one device, by scope. */
export class AttributeStore {
  readonly #scopes: Record<Scope, Map<string, Attribute>> = {
    CLIENT_SCOPE: new Map(),
    SHARED_SCOPE: new Map(),
    SERVER_SCOPE: new Map(),
  };
  readonly #journal: Journal;
  readonly #deviceId: string;

  constructor(deviceId = "", journal: Journal = NO_JOURNAL) {
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
    if (!old && entries.size >= MOST) return;
    const attribute = { value, ts };
    entries.set(key, attribute);
    this.#note(scope, key, [ts, valueToText(value)]);
  }

  delete(scope: Scope, key: string): void {
    if (this.#scopes[scope].delete(key)) this.#note(scope, key, undefined);
  }

  #note(scope: Scope, key: string, value: unknown): void {
    this.#journal.put(["device", this.#deviceId, "attribute", scope, key], value);
  }
}
