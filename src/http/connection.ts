// Sends requests to one platform, one at a time, over a persistent connection.
import type { Host } from "../port.js";
import type { Binding } from "../wire/secret.js";
import { bindingOf, isSameBinding } from "./binding.js";
import { Channel } from "./channel.js";
import { Governor, type Purpose } from "./governor.js";
import { classify, lost, NO_TURN, type Outcome } from "./outcome.js";
import type { Request } from "./request.js";
import { writeRequest } from "./request.js";
import type { Answer } from "./response.js";
import type { Target } from "./target.js";

/** Maximum number of bytes of one socket read. */
export const READ_BYTES = 2048;
/** Maximum number of queued requests. */
const MAX_QUEUED = 32;
/**
 * A non-repeatable request avoids a connection idle for longer than this: the peer may be closing
 * it.
 */
const FRESH_MS = 5000;

interface Job {
  readonly request: Request;
  readonly done: (outcome: Outcome) => void;
  /** Cancels the deadline. */
  cancel: (() => void) | undefined;
  /** Cancels the wait for the rate limit. */
  release: (() => void) | undefined;
  sentReported: boolean;
}

const UNBOUND = "the credential is bound to another address or CA";
/** Requests without a purpose belong to the application. */
const OTHER: Purpose = "application";

export class Connection {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _buffer: Uint8Array;
  private readonly _governor: Governor;
  private readonly _binding: Binding;
  #queue: Job[] = [];
  /** Requests delayed by the governor. Others may overtake them. */
  #held: Job[] = [];
  #job: Job | undefined;
  private _channel: Channel | undefined;
  private _closed = false;
  private _renew = false;

  /**
   * `buffer`: for reads; may be shared, because nothing in it outlives a read. `governor`: shared
   * by all connections.
   */
  constructor(
    host: Host,
    target: Target,
    buffer = new Uint8Array(READ_BYTES),
    governor = new Governor(host.clock),
    binding = bindingOf(target, host.authorities),
  ) {
    this._host = host;
    this._target = target;
    this._buffer = buffer;
    this._governor = governor;
    this._binding = binding;
  }

  /**
   * Queues `request` and sends it when its rate limit allows. `done` is called exactly once, never
   * during this call. The outcome is `lost` if the connection is closed, 32 requests are queued,
   * the credential is bound to another connection, or the path is not escaped.
   */
  send(request: Request, done: (outcome: Outcome) => void): void {
    const job: Job = { request, done, cancel: undefined, release: undefined, sentReported: false };
    if (this._closed) this._refuse(job, "stopped");
    else if (request.credential && !isSameBinding(request.credential.binding, this._binding))
      this._refuse(job, UNBOUND);
    else if (this.#queue.length + this.#held.length >= MAX_QUEUED)
      this._refuse(job, "too many requests wait");
    else {
      if (request.deadlineIncludesQueue) this._limit(job);
      const waitMs = this._governor.take(request.purpose ?? OTHER);
      if (waitMs > 0) this._hold(job, waitMs);
      else this._queue(job);
    }
  }

  private _queue(job: Job): void {
    this.#queue.push(job);
    this._next();
  }

  /** Delays `job` until its rate limit allows it, unless its deadline or a close comes first. */
  private _hold(job: Job, ms: number): void {
    this.#held.push(job);
    job.release = this._host.clock.timer(ms, () => {
      this.#held = this.#held.filter((other) => other !== job);
      this._queue(job);
    });
  }

  /** Sends the next request on a new connection. */
  fresh(): void {
    if (this.#job) this._renew = true;
    else this._drop();
  }

  /**
   * Abandons the current socket. The active request is sent again on a new connection if it is
   * repeatable, with a new deadline unless `deadlineIncludesQueue`. Otherwise it is lost.
   */
  renew(): void {
    const job = this.#job;
    const channel = this._channel;
    const unread = !channel || channel.handed === 0 || (job?.request.repeatable && !channel.answering);
    this._drop();
    if (job && unread) {
      if (!job.request.deadlineIncludesQueue) this._limit(job);
      this._attempt(job);
    } else if (job) this._finish(lost("the network was gone"));
  }

  get isOpen(): boolean {
    return !this._closed;
  }

  /** Closes for good: active, queued and later requests end as `lost`. */
  close(): void {
    if (this._closed) return;
    this._closed = true;
    this._drop();
    const jobs = this.#queue.splice(0).concat(this.#held.splice(0));
    if (this.#job) jobs.unshift(this.#job);
    this.#job = undefined;
    jobs.forEach((job) => void this._report(job, lost("stopped")));
  }

  // Called by the channel, never during a call to the channel.

  /** The last byte of the request was handed over. */
  sent(): void {
    const job = this.#job;
    if (!job || job.sentReported) return;
    job.sentReported = true;
    try {
      job.request.sent?.();
    } catch {
      this._host.log("error", "net: sent() failed");
    }
  }

  /**
   * The answer is complete. `reusable`: the channel accepts another request; otherwise it is
   * closed.
   */
  answered(answer: Answer, reusable: boolean): void {
    const bytes = this._channel?.bodyBytes;
    if (!reusable) this._channel = undefined;
    const sink = this.#job?.request.sink;
    const streamed = answer.status === 200 ? sink : answer.status === 206 ? sink?.head : undefined;
    this._finish(classify(answer, streamed !== undefined), bytes);
  }

  /** The channel failed, with or without a request. At most once for each channel. */
  broken(reason: string): void {
    const job = this.#job;
    const again = job && this._channel && mayRepeat(job.request, this._channel);
    const bytes = this._channel?.bodyBytes;
    this._channel = undefined;
    // Happens at most once, because the retry uses a new connection.
    if (again) this._attempt(job);
    else if (job) this._finish(lost(reason), bytes);
  }

  private _next(): void {
    if (this.#job) return;
    const job = this.#queue.shift();
    if (!job) return;
    this.#job = job;
    if (!job.cancel) this._limit(job);
    this._attempt(job);
  }

  private _limit(job: Job): void {
    job.cancel?.();
    job.cancel = this._host.clock.timer(job.request.deadlineMs, () => this._late(job));
  }

  private _attempt(job: Job): void {
    const bytes = writeRequest(this._host, this._target, job.request);
    if (!bytes) {
      this._host.clock.timer(0, () => job === this.#job && this._finish(lost("request not escaped")));
      return;
    }
    const { repeatable, allowStaleConnection } = job.request;
    const stale = !repeatable && !allowStaleConnection && (this._channel?.idleMs ?? 0) > FRESH_MS;
    if (stale || this._channel?.clean === false) this._drop();
    job.sentReported = false;
    this._channel ??= new Channel(this._host, this._target, this._buffer, this);
    this._channel.run(job.request, bytes);
  }

  private _late(job: Job): void {
    if (job !== this.#job) {
      const isOther = (other: Job): boolean => other !== job;
      this.#queue = this.#queue.filter(isOther);
      this.#held = this.#held.filter(isOther);
      this._governor.giveBack(job.request.purpose ?? OTHER);
      this._report(job, lost(NO_TURN));
      return;
    }
    const reason = this._channel?.waitingFor ?? "not sent in time";
    const bytes = this._channel?.bodyBytes;
    this._drop();
    this._finish(lost(reason), bytes);
  }

  /** `bytes`: received bytes of the response body. */
  private _finish(outcome: Outcome, bytes = 0): void {
    const job = this.#job;
    this.#job = undefined;
    if (this._renew) this._drop();
    if (job) {
      this._governor.ended(job.request.purpose ?? OTHER, outcome, bytes);
      this._report(job, outcome);
    }
    this._next();
  }

  private _report(job: Job, outcome: Outcome): void {
    job.cancel?.();
    job.release?.();
    try {
      job.done(outcome);
    } catch {
      this._host.log("error", "net: done() failed");
    }
  }

  /** Refuses a job before it is queued. */
  private _refuse(job: Job, reason: string): void {
    this._host.clock.timer(0, () => this._report(job, lost(reason)));
  }

  private _drop(): void {
    this._renew = false;
    this._channel?.close();
    this._channel = undefined;
  }
}

/**
 * The peer closed an idle connection as the request was sent: repeat it if it was not read or is
 * repeatable.
 */
const mayRepeat = (request: Request, channel: Channel): boolean => {
  return channel.keptAlive && !channel.answering && (request.repeatable || channel.handed === 0);
};

/** Sends one request and resolves with its outcome. Never rejects. */
export const exchange = (connection: Connection, request: Request): Promise<Outcome> => {
  return new Promise((resolve) => connection.send(request, resolve));
};
