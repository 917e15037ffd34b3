import type { Scope } from "./attributes.js";
import type { PersistentStatus } from "./rpc/rpc.js";
import type { Value } from "./values.js";

/** What happened on the platform, for those who look on. */
export type Happening =
  /** Points were stored. */
  | { kind: "telemetry"; deviceId: string; ts: number; values: readonly (readonly [string, Value])[] }
  /** Attributes were set or deleted. */
  | { kind: "attributes"; deviceId: string; scope: Scope }
  /** What became of a persistent RPC. */
  | { kind: "rpc"; deviceId: string; rpcId: string; status: PersistentStatus }
  /** A device came, went or changed. */
  | { kind: "device"; deviceId: string };

/** Notifies each listener, in order; what one of them throws is its own affair. */
export class Feed<T> {
  readonly #listeners = new Set<(what: T) => void>();

  /** Until the result is called. */
  listen(listener: (what: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  tell(what: T): void {
    if (!this.isHeard) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener(what);
      } catch {
        this.#listeners.delete(listener);
      }
    }
  }
}
