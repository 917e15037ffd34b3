// Sends requests to one platform, one at a time, over a persistent connection.
//
// The peer may close an idle connection at any moment, and a NAT or load balancer forgets it
// without a word: then nothing ever arrives on it, and no socket says so. So an idle connection is
// trusted less the longer it is idle, and less for a request that must not be sent twice:
//
// | idle | repeatable | a poll | not repeatable |
// |---|---|---|---|
// | up to 5 s | used | used | used |
// | up to 30 s | used | used | new connection |
// | longer | used, sent again after 5 s of silence | new connection | new connection |
//
// So a device that sends each minute keeps one connection, and a dead one costs 5 s instead of the
// whole deadline. A poll gets a new one, because its silence is normal; polls follow each other, so
// this happens only after a back-off. 30 s covers each minute's request, and is longer than the
// pauses between requests of a busy device.

import { invariant } from "../invariant.js";
import type { Host, Socket, SocketEvent } from "../port.js";
import { type Binding, isSameBinding } from "../wire/secret.js";
import { classify, lost, NO_TURN, type Outcome, SILENCE, UNCONNECTED } from "./outcome.js";
import { type Request, writeRequest } from "./request.js";
import { type Answer, GIVEN_UP, ResponseReader } from "./response.js";
import { bindingOf, type Target } from "./target.js";

/** Maximum number of bytes of one socket read. */
export const READ_BYTES = 2048;
/** Maximum number of queued requests. */
const MAX_QUEUED = 32;
/**
 * Limit for DNS, TCP and TLS together. Without it, a poll would notice a stalled handshake only at
 * its deadline.
 */
const OPENING_MS = 30_000;
const FRESH_MS = 5000;
const AGED_MS = 30_000;
const SILENCE_MS = 5000;
/** A body takes its time on a slow line: this many bytes per ms. */
const SLOW_LINE = 2;

/** Reason of a time-out, by phase. */
const PHASES = {
  opening: UNCONNECTED,
  idle: "not sent in time",
  writing: "not sent in time",
  waiting: SILENCE,
} as const;

/** A request that has not ended: queued or active. */
interface PendingRequest {
  readonly request: Request;
  readonly done: (outcome: Outcome) => void;
  /** Cancels the deadline. */
  cancel: (() => void) | undefined;
  sentReported: boolean;
}

/** A socket from its opening on. Events of one that was dropped are ignored. */
interface Link {
  socket: Socket | undefined;
  phase: keyof typeof PHASES;
  /**
   * The request that is not sent completely, and the bytes of the last one that were handed over.
   */
  out: Uint8Array | undefined;
  handed: number;
  /** Time of the last answer; undefined before the first one. */
  answeredAt: number | undefined;
  /** Cancels the time limit of the opening, or of a silence. */
  cancel: (() => void) | undefined;
}

export class Connection {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _buffer: Uint8Array;
  private readonly _binding: Binding;
  private readonly _reader: ResponseReader;
  #queue: PendingRequest[] = [];
  #active: PendingRequest | undefined;
  private _link: Link | undefined;
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
    this._reader = new ResponseReader(host);
  }

  /**
   * Queues `request`. `done` is called exactly once, never during this call. The outcome is `lost`
   * if the connection is closed, 32 requests are queued, the credential is bound to another
   * connection, or the path is not escaped.
   */
  send(request: Request, done: (outcome: Outcome) => void): void {
    const pending: PendingRequest = { request, done, cancel: undefined, sentReported: false };
    const problem = this._problem(request);
    if (problem !== undefined) {
      this._soon(() => this._report(pending, lost(problem)));
      return;
    }
    if (request.deadlineIncludesQueue) this._limit(pending);
    this.#queue.push(pending);
    this._next();
  }

  /** Why a request is not queued. */
  private _problem({ credential }: Request): string | undefined {
    if (this._closed) return "stopped";
    if (credential && !isSameBinding(credential.binding, this._binding))
      return "the credential is bound to another address or CA";
    return this.#queue.length >= MAX_QUEUED ? "too many requests wait" : undefined;
  }

  /**
   * Abandons the current socket. The active request is sent again on a new connection if it is
   * repeatable, with a new deadline unless `deadlineIncludesQueue`. Otherwise it is lost.
   */
  renew(): void {
    const active = this.#active;
    const again = active && this._mayRepeat(active.request);
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

  // Requests.

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

  /** Sends the active request on the open connection, if that may be used, or on a new one. */
  private _attempt(pending: PendingRequest): void {
    const { request } = pending;
    const { credential, body } = request;
    invariant(
      "a secret is sent only to the platform that it is bound to",
      () =>
        !credential || isSameBinding(credential.binding, bindingOf(this._target, this._binding.authorities)),
    );
    const bytes = writeRequest(this._host, this._target, request);
    if (!bytes) {
      this._soon(() => pending === this.#active && this._finish(lost("request not escaped")));
      return;
    }
    const idleMs = this._host.clock.now() - (this._link?.answeredAt ?? Number.POSITIVE_INFINITY);
    const isTrusted = idleMs <= FRESH_MS || (request.repeatable && (idleMs <= AGED_MS || !request.isPoll));
    if (!isTrusted || !this._isClean()) this._drop();
    pending.sentReported = false;
    this._reader.expect(request.limit, request.sink);
    const link = this._link ?? this._open();
    link.out = bytes;
    link.handed = 0;
    if (link.phase === "opening") return;
    link.phase = "writing";
    if (idleMs > AGED_MS) {
      // A slow platform must not get each request twice.
      const silenceMs = Math.max(SILENCE_MS, 2 * this._slowMs) + (body?.length ?? 0) / SLOW_LINE;
      link.cancel = this._host.clock.timer(silenceMs, () => {
        if (!this._reader.started) this._break(link, this._waitingFor);
      });
    }
    this._event(link, "writable");
  }

  /**
   * True if a request whose socket ended may be sent again: it was not read, or may be read twice.
   */
  private _mayRepeat({ repeatable }: Request): boolean {
    return (this._link?.handed ?? 0) === 0 || (repeatable && !this._reader.started);
  }

  private get _waitingFor(): string {
    if (this._reader.started) return "answer not complete in time";
    return PHASES[this._link?.phase ?? "idle"];
  }

  private _late(pending: PendingRequest): void {
    if (pending !== this.#active) {
      this.#queue = this.#queue.filter((other) => other !== pending);
      this._report(pending, lost(NO_TURN));
      return;
    }
    const outcome = lost(this._waitingFor, (this._link?.handed ?? 0) > 0);
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

  private _soon(call: () => void): void {
    this._host.clock.timer(0, call);
  }

  // The socket.

  private _open(): Link {
    const { clock } = this._host;
    const { name, port, secure } = this._target;
    const link: Link = {
      ...{ socket: undefined, phase: "opening", out: undefined, handed: 0, answeredAt: undefined },
      cancel: clock.timer(OPENING_MS, () => this._break(link, UNCONNECTED)),
    };
    this._link = link;
    try {
      link.socket = this._host.open(name, port, secure, (what, reason) => this._event(link, what, reason));
    } catch {
      this._soon(() => this._break(link, "the host cannot open a connection"));
    }
    return link;
  }

  /** An exception must not reach the host, where it would end the run. */
  private _event(link: Link, what: SocketEvent, reason?: string): void {
    if (link !== this._link) return;
    try {
      this._handle(link, what, reason ?? "connection closed");
    } catch (error) {
      this._host.log("error", `net: ${error instanceof Error ? error.name : "unknown error"}`);
      this._soon(() => this._break(link, "internal error"));
    }
  }

  private _handle(link: Link, what: SocketEvent, reason: string): void {
    if (what === "opened" && link.phase === "opening") {
      link.cancel?.();
      link.phase = link.out ? "writing" : "idle";
    }
    if (what === "readable") this._read(link, true);
    else if (what === "closed") this._ended(link, reason);
    else this._write(link);
  }

  /** Writes until the socket accepts no more; then continues at `writable`. */
  private _write(link: Link): void {
    const { out, socket } = link;
    if (!out || link.phase !== "writing" || !socket) return;
    while (link.handed < out.length) {
      const rest = link.handed === 0 ? out : out.subarray(link.handed);
      const taken = socket.write(rest);
      if (!(taken > 0)) return;
      link.handed += Math.min(rest.length, taken);
    }
    link.out = undefined;
    link.phase = "waiting";
    this._sent();
  }

  private _sent(): void {
    const active = this.#active;
    if (!active || active.sentReported) return;
    active.sentReported = true;
    try {
      active.request.sent?.();
    } catch {
      this._host.log("error", "net: a job failed when told that its request was sent");
    }
  }

  private _read(link: Link, open: boolean): void {
    const buffer = this._buffer;
    const reader = this._reader;
    while (link === this._link && link.socket) {
      const count = Math.min(buffer.length, link.socket.read(buffer));
      if (count <= 0) return;
      if (link.phase === "idle") {
        this._break(link, "unasked bytes");
        return;
      }
      const at = reader.feed(buffer, 0, count);
      const { problem, answer } = reader;
      if (problem) this._break(link, problem === GIVEN_UP ? problem : `unlawful answer: ${problem}`);
      if (answer) this._answered(link, answer, open && at === count);
      if (problem || answer) return;
    }
  }

  private _ended(link: Link, reason: string): void {
    this._read(link, false);
    if (link !== this._link) return;
    const inOrder = reason === "end";
    const answer = link.phase !== "idle" && inOrder ? this._reader.peerClosed() : undefined;
    if (answer) this._answered(link, answer, false);
    else this._break(link, inOrder ? "connection closed by the peer" : reason);
  }

  /** `clean`: nothing followed the answer, and the socket is open. */
  private _answered(link: Link, answer: Answer, clean: boolean): void {
    // An idle connection keeps no body, for example of an RPC whose handler runs.
    this._reader.answer = undefined;
    // An error may arrive early, but a success before the whole request is not for this request.
    if (link.out && answer.status < 400) {
      this._break(link, "unlawful answer: before the request");
      return;
    }
    // After extra bytes, or an answer to half a request, the connection is out of step.
    const isInStep = clean && !link.out;
    link.cancel?.();
    link.phase = "idle";
    link.answeredAt = this._host.clock.now();
    if (!answer.reusable || !isInStep || !this._isClean()) this._drop();
    if (this._repeatedAt !== undefined) this._slowMs = link.answeredAt - this._repeatedAt;
    const { sink, isReceipt } = this.#active?.request ?? {};
    const streamed = answer.status === 200 ? sink : answer.status === 206 ? sink?.head : undefined;
    const outcome = classify(answer, streamed ? "streamed" : isReceipt ? "receipt" : "value");
    this._finish(outcome.kind === "lost" ? lost(outcome.reason, true) : outcome);
  }

  /** False if unexpected bytes arrived, which could be taken for an answer. */
  private _isClean(): boolean {
    const { phase, socket } = this._link ?? {};
    try {
      return phase !== "idle" || socket?.read(this._buffer) === 0;
    } catch {
      return false;
    }
  }

  /** The socket failed, with or without a request. */
  private _break(link: Link, reason: string): void {
    if (link !== this._link) return;
    const active = this.#active;
    // Happens at most once, because the retry uses a new connection.
    const again = active && link.answeredAt !== undefined && this._mayRepeat(active.request);
    this._drop();
    if (again) {
      this._repeatedAt = this._host.clock.now();
      this._attempt(active);
    } else if (active) this._finish(lost(reason, link.handed > 0));
  }

  private _drop(): void {
    const link = this._link;
    this._link = undefined;
    link?.cancel?.();
    try {
      link?.socket?.close();
    } catch {
      // The socket is closed anyway.
    }
  }
}

/** Sends one request and resolves with its outcome. Never rejects. */
export const exchange = (connection: Connection, request: Request): Promise<Outcome> => {
  return new Promise((resolve) => connection.send(request, resolve));
};
