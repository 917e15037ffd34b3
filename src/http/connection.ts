// Sends requests to one platform, one at a time, over a persistent connection.
import { invariant } from "../invariant.js";
import type { Host } from "../port.js";
import { type Binding, isSameBinding } from "../wire/secret.js";
import { Channel, type ChannelUser } from "./channel.js";
import { classify, lost, NO_TURN, type Outcome } from "./outcome.js";
import type { Request } from "./request.js";
import { writeRequest } from "./request.js";
import type { Answer } from "./response.js";
import { mayRepeat, mayReuse, silenceLimit } from "./reuse.js";
import { bindingOf, type Target } from "./target.js";

/** Maximum number of bytes of one socket read. */
export const READ_BYTES = 2048;
/** Maximum number of queued requests. */
const MAX_QUEUED = 32;

/** A request that has not ended: queued or active. */
interface PendingRequest {
  readonly request: Request;
  readonly done: (outcome: Outcome) => void;
  /** Cancels the deadline. */
  cancel: (() => void) | undefined;
  sentReported: boolean;
}

const UNBOUND = "the credential is bound to another address or CA";

export class Connection implements ChannelUser {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _buffer: Uint8Array;
  private readonly _binding: Binding;
  #queue: PendingRequest[] = [];
  #active: PendingRequest | undefined;
  private _channel: Channel | undefined;
  private _closed = false;
  /** Time when the active request was sent again. */
  private _repeatedAt: number | undefined;
  /** Time from there to the answer, of the last such request. */
  private _slowMs = 0;

  /** `buffer`: for reads; may be shared, because nothing in it outlives a read. */
  constructor(
    host: Host,
    target: Target,
    buffer: Uint8Array = new Uint8Array(READ_BYTES),
    binding = bindingOf(target, host.authorities),
  ) {
    this._host = host;
    this._target = target;
    this._buffer = buffer;
    this._binding = binding;
  }

  /**
   * Queues `request`. `done` is called exactly once, never during this call. The outcome is `lost`
   * if the connection is closed, 32 requests are queued, the credential is bound to another
   * connection, or the path is not escaped.
   */
  send(request: Request, done: (outcome: Outcome) => void): void {
    const pending: PendingRequest = { request, done, cancel: undefined, sentReported: false };
    if (this._closed) this._refuse(pending, "stopped");
    else if (request.credential && !isSameBinding(request.credential.binding, this._binding))
      this._refuse(pending, UNBOUND);
    else if (this.#queue.length >= MAX_QUEUED) this._refuse(pending, "too many requests wait");
    else {
      if (request.deadlineIncludesQueue) this._limit(pending);
      this.#queue.push(pending);
      this._next();
    }
  }

  /**
   * Abandons the current socket. The active request is sent again on a new connection if it is
   * repeatable, with a new deadline unless `deadlineIncludesQueue`. Otherwise it is lost.
   */
  renew(): void {
    const active = this.#active;
    const again = active && mayRepeat(active.request, this._channel);
    this._drop();
    if (active && again) {
      if (!active.request.deadlineIncludesQueue) this._limit(active);
      this._attempt(active);
    } else if (active) this._finish(lost("the network was gone"));
  }

  get isOpen(): boolean {
    return !this._closed;
  }

  /** Closes for good: active, queued and later requests end as `lost`. */
  close(): void {
    if (this._closed) return;
    this._closed = true;
    this._drop();
    const all = this.#queue.splice(0);
    if (this.#active) all.unshift(this.#active);
    this.#active = undefined;
    all.forEach((pending) => void this._report(pending, lost("stopped")));
  }

  // Implements ChannelUser.

  sent(): void {
    const active = this.#active;
    if (!active || active.sentReported) return;
    active.sentReported = true;
    try {
      active.request.sent?.();
    } catch {
      this._host.log("error", "net: a job failed when told that its request was sent");
    }
  }

  answered(answer: Answer, reusable: boolean): void {
    if (this._repeatedAt !== undefined) this._slowMs = this._host.clock.now() - this._repeatedAt;
    if (!reusable) this._channel = undefined;
    const { sink, isReceipt } = this.#active?.request ?? {};
    const streamed = answer.status === 200 ? sink : answer.status === 206 ? sink?.head : undefined;
    const outcome = classify(answer, streamed ? "streamed" : isReceipt ? "receipt" : "value");
    this._finish(outcome.kind === "lost" ? lost(outcome.reason, true) : outcome);
  }

  broken(reason: string): void {
    const active = this.#active;
    // Happens at most once, because the retry uses a new connection.
    const again = active && this._channel?.keptAlive && mayRepeat(active.request, this._channel);
    const sent = this._wasSent;
    this._channel = undefined;
    if (again) this._repeatedAt = this._host.clock.now();
    if (again) this._attempt(active);
    else if (active) this._finish(lost(reason, sent));
  }

  /** At least the beginning of the active request was sent. */
  private get _wasSent(): boolean {
    return (this._channel?.handed ?? 0) > 0;
  }

  private _next(): void {
    if (this.#active) return;
    let pending = this.#queue.shift();
    while (pending?.request.isWanted?.() === false) {
      this._report(pending, lost(NO_TURN));
      pending = this.#queue.shift();
    }
    if (!pending) return;
    this.#active = pending;
    if (!pending.cancel) this._limit(pending);
    this._attempt(pending);
  }

  private _limit(pending: PendingRequest): void {
    pending.cancel?.();
    pending.cancel = this._host.clock.timer(pending.request.deadlineMs, () => this._late(pending));
  }

  private _attempt(pending: PendingRequest): void {
    const { credential } = pending.request;
    invariant(
      "a secret is sent only to the platform that it is bound to",
      () =>
        !credential || isSameBinding(credential.binding, bindingOf(this._target, this._binding.authorities)),
    );
    const bytes = writeRequest(this._host, this._target, pending.request);
    if (!bytes) {
      this._host.clock.timer(0, () => pending === this.#active && this._finish(lost("request not escaped")));
      return;
    }
    const { request } = pending;
    const idleMs = this._channel?.idleMs ?? 0;
    if (!mayReuse(request, idleMs) || this._channel?.clean === false) this._drop();
    pending.sentReported = false;
    const silenceMs = this._channel && silenceLimit(request, idleMs, this._slowMs);
    this._channel ??= new Channel(this._host, this._target, this._buffer, this);
    this._channel.exchange(request, bytes, silenceMs);
  }

  private _late(pending: PendingRequest): void {
    if (pending !== this.#active) {
      this.#queue = this.#queue.filter((other) => other !== pending);
      this._report(pending, lost(NO_TURN));
      return;
    }
    const outcome = lost(this._channel?.waitingFor ?? "not sent in time", this._wasSent);
    this._drop();
    this._finish(outcome);
  }

  private _finish(outcome: Outcome): void {
    const active = this.#active;
    this.#active = undefined;
    this._repeatedAt = undefined;
    if (active) this._report(active, outcome);
    this._next();
  }

  private _report(pending: PendingRequest, outcome: Outcome): void {
    pending.cancel?.();
    try {
      pending.done(outcome);
    } catch {
      this._host.log("error", "net: a job failed at the end of its request");
    }
  }

  /** Refuses a request before it is queued. */
  private _refuse(pending: PendingRequest, reason: string): void {
    this._host.clock.timer(0, () => this._report(pending, lost(reason)));
  }

  private _drop(): void {
    this._channel?.close();
    this._channel = undefined;
  }
}

/** Sends one request and resolves with its outcome. Never rejects. */
export const exchange = (connection: Connection, request: Request): Promise<Outcome> => {
  return new Promise((resolve) => connection.send(request, resolve));
};
