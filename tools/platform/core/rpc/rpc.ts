// Server-side RPC like the platform's device actor (strategy BURST, one answer per session).

import { addBounded } from "../common/bounded.js";
import type { Clock } from "../common/clock.js";

export interface Rpc {
  readonly id: number;
  readonly method: string;
  /** JSON text. */
  readonly params: string;
}

/**
 * The device's side of an RPC poll. `deliver` says whether the transport still knew the session:
 * false once its own timer (408) fired, true while the poll is open, and also when the answer can
 * no longer get anywhere (cut at 503, or the device hung up).
 */
export interface RpcSession {
  deliver(rpc: Rpc): boolean;
}

export type PersistentStatus = "QUEUED" | "DELIVERED" | "SUCCESSFUL" | "EXPIRED" | "DELETED";

/** The record of a persistent RPC; the caller reads it later. */
export interface RpcRecord {
  setStatus(status: PersistentStatus, response?: string): void;
}

/** The result of an RPC that is not persistent. `text`: as the device sent it. */
export type RpcResult =
  | { readonly kind: "sent" }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "no connection" };

export interface RpcRequest {
  method: string;
  params: string;
  oneWay: boolean;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** Of a persistent RPC. */
  record?: RpcRecord;
  /** Called at most once; never for a persistent RPC, nor when the device is deleted. */
  result?: (result: RpcResult) => void;
}

interface Pending extends RpcRequest {
  readonly id: number;
  /** Whether somebody was subscribed when it came. */
  readonly sent: boolean;
  cancel: () => void;
}

/** RPCs that may wait for one device; one more is refused. */
const MOST_PENDING = 1_000;

export class RpcActor {
  readonly #clock: Clock;
  readonly #pending = new Map<number, Pending>();
  /** Sessions of ended polls stay here until an RPC is sent to them: a one-way RPC is then lost. */
  readonly #subscribers = new Set<RpcSession>();
  #nextId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** The id given to it; undefined if too many wait. */
  send(request: RpcRequest): number | undefined {
    if (this.#pending.size >= MOST_PENDING) return undefined;
    if (request.expiresAt <= this.#clock.now()) return this.#tooLate(request);
    const rpc: Rpc = { id: this.#nextId++, method: request.method, params: request.params };
    const sessions = [...this.#subscribers];
    this.#subscribers.clear();
    const sent = sessions.length > 0;
    const keeps = !sent || !request.oneWay || request.record !== undefined;
    if (keeps) this.#wait({ ...request, id: rpc.id, sent, cancel: () => {} });
    let known = false;
    for (const session of sessions) known = session.deliver(rpc) || known;
    if (request.record && known) this.#delivered(rpc.id, request);
    if (!keeps) request.result?.({ kind: "sent" });
    return rpc.id;
  }

  /** A poll opened: it gets what has waited longest, at once, or waits for the next RPC. */
  subscribe(session: RpcSession): void {
    const [head] = this.#pending.values();
    if (!head) {
      addBounded(this.#subscribers, session);
      return;
    }
    const known = session.deliver({ id: head.id, method: head.method, params: head.params });
    if (head.record) {
      if (known) this.#delivered(head.id, head);
    } else if (head.oneWay) {
      this.#drop(head.id);
      head.result?.({ kind: "sent" });
    }
  }

  /** The device's answer. Unknown, late and second ones are taken and ignored. */
  answer(id: number, text: string): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#drop(id);
    pending.record?.setStatus("SUCCESSFUL", text);
    pending.result?.({ kind: "answer", text });
  }

  /** After a change of credentials open polls get nothing more. */
  forgetSubscribers(): void {
    this.#subscribers.clear();
  }

  /** Takes a persistent RPC back. */
  revoke(id: number): void {
    this.#drop(id);
  }

  /** Drops everything; callers learn nothing. */
  close(): void {
    for (const id of [...this.#pending.keys()]) this.#drop(id);
    this.#subscribers.clear();
  }

  /** It takes an id, but nobody gets to see it. */
  #tooLate(request: RpcRequest): number {
    request.record?.setStatus("EXPIRED");
    this.#clock.timer(0, () => request.result?.({ kind: "timeout" }));
    return this.#nextId++;
  }

  #wait(pending: Pending): void {
    this.#pending.set(pending.id, pending);
    const left = Math.max(0, pending.expiresAt - this.#clock.now());
    pending.cancel = this.#clock.timer(left, () => this.#expire(pending));
  }

  #expire(pending: Pending): void {
    this.#pending.delete(pending.id);
    pending.record?.setStatus("EXPIRED");
    pending.result?.({ kind: pending.sent ? "timeout" : "no connection" });
  }

  #delivered(id: number, { record, oneWay }: RpcRequest): void {
    record?.setStatus("DELIVERED");
    if (oneWay) this.#drop(id);
  }

  #drop(id: number): void {
    this.#pending.get(id)?.cancel();
    this.#pending.delete(id);
  }
}
