// One socket from opening to end, with at most one request at a time.
import type { Host, Socket, SocketEvent } from "../port.js";
import { SILENCE, UNCONNECTED } from "./outcome.js";
import type { Request } from "./request.js";
import { type Answer, GIVEN_UP, ResponseReader } from "./response.js";
import type { Target } from "./target.js";

/**
 * Limit for DNS, TCP and TLS together. Without it, a poll would notice a stalled handshake only at
 * its deadline.
 */
const OPENING_MS = 30_000;

/** Reason of a time-out, by phase. */
const PHASES = {
  opening: UNCONNECTED,
  idle: "not sent in time",
  writing: "not sent in time",
  waiting: SILENCE,
} as const;

type Phase = keyof typeof PHASES;

/** What a channel reports, never during a call to the channel. */
export interface ChannelUser {
  /** The last byte of the request was handed over. */
  sent(): void;
  /**
   * The answer is complete. `reusable`: the channel accepts another request; otherwise it is
   * closed.
   */
  answered(answer: Answer, reusable: boolean): void;
  /** The channel failed, with or without a request. At most once for each channel. */
  broken(reason: string): void;
}

export class Channel {
  private readonly _host: Host;
  private readonly _user: ChannelUser;
  private readonly _buffer: Uint8Array;
  private readonly _reader: ResponseReader;
  private _socket: Socket | undefined;
  private _phase: Phase = "opening";
  private _over = false;
  /** Unsent bytes begin at `_outAt`. */
  private _out: Uint8Array | undefined;
  private _outAt = 0;
  private _busy = false;
  private _idleSince = 0;
  /** Cancels the time limit of the opening, or of a silence. */
  private _cancel: (() => void) | undefined;
  /** True after the first answer: from then on, the peer may close the connection while idle. */
  keptAlive = false;

  constructor(host: Host, target: Target, buffer: Uint8Array, user: ChannelUser) {
    this._host = host;
    this._user = user;
    this._buffer = buffer;
    this._reader = new ResponseReader(host);
    const event = (what: SocketEvent, reason?: string) => this._event(what, reason);
    this._cancel = host.clock.timer(OPENING_MS, () => this._break(UNCONNECTED));
    try {
      this._socket = host.open(target.name, target.port, target.secure, event);
    } catch {
      host.clock.timer(0, () => this._break("the host cannot open a connection"));
    }
  }

  /**
   * Sends `bytes` once the socket is open, and reads the answer. One request at a time. Breaks
   * after `silenceMs` without a byte of the answer.
   */
  exchange(request: Request, bytes: Uint8Array, silenceMs?: number): void {
    this._reader.expect(request.limit, request.sink);
    this._out = bytes;
    this._outAt = 0;
    this._busy = true;
    if (this._phase === "opening") return;
    this._phase = "writing";
    if (silenceMs !== undefined)
      this._cancel = this._host.clock.timer(silenceMs, () => {
        if (!this.answering) this._break(this.waitingFor);
      });
    try {
      this._write();
    } catch (error) {
      this._failed(error);
    }
  }

  /** False if unexpected bytes arrived, which could be taken for an answer. */
  get clean(): boolean {
    try {
      return this._phase === "opening" || this._socket?.read(this._buffer) === 0;
    } catch {
      return false;
    }
  }

  /** Bytes of the request handed to the socket. */
  get handed(): number {
    return this._outAt;
  }

  /** True once the first byte of the answer arrived. */
  get answering(): boolean {
    return this._reader.started;
  }

  /** Describes what the request is waiting for. */
  get waitingFor(): string {
    return this.answering ? "answer not complete in time" : PHASES[this._phase];
  }

  /** ms since the last answer; 0 during a request. */
  get idleMs(): number {
    return this._busy ? 0 : this._host.clock.now() - this._idleSince;
  }

  /** Closes the socket. Nothing more is reported. */
  close(): void {
    this._over = true;
    this._stopTimer();
    this._out = undefined;
    try {
      this._socket?.close();
    } catch {
      // The socket is closed anyway.
    }
  }

  private _event(what: SocketEvent, reason: string | undefined): void {
    if (this._over) return;
    try {
      switch (what) {
        case "opened":
          this._opened();
          break;
        case "writable":
          this._write();
          break;
        case "readable":
          this._read(true);
          break;
        case "closed":
          this._closed(reason ?? "connection closed");
          break;
      }
    } catch (error) {
      this._failed(error);
    }
  }

  /** An exception must not reach the host, where it would end the run. */
  private _failed(error: unknown): void {
    this._host.log("error", `net: ${error instanceof Error ? error.name : "unknown error"}`);
    this._host.clock.timer(0, () => this._break("internal error"));
  }

  private _opened(): void {
    if (this._phase !== "opening") return;
    this._stopTimer();
    this._phase = this._busy ? "writing" : "idle";
    this._write();
  }

  /** Writes until the socket accepts no more; then continues at `writable`. */
  private _write(): void {
    const out = this._out;
    if (!out || this._phase !== "writing" || !this._socket) return;
    while (this._outAt < out.length) {
      const rest = this._outAt === 0 ? out : out.subarray(this._outAt);
      const taken = this._socket.write(rest);
      if (!(taken > 0)) return;
      this._outAt += Math.min(rest.length, taken);
    }
    this._out = undefined;
    this._phase = "waiting";
    this._user.sent();
  }

  private _read(open: boolean): void {
    const buffer = this._buffer;
    while (!this._over && this._socket) {
      const count = Math.min(buffer.length, this._socket.read(buffer));
      if (count <= 0) return;
      if (!this._busy) {
        this._break("unasked bytes");
        return;
      }
      const at = this._reader.feed(buffer, 0, count);
      if (this._over) return;
      const { problem, answer } = this._reader;
      if (problem) this._break(reasonOf(problem));
      if (answer) this._answered(answer, open && at === count);
      if (problem || answer) return;
    }
  }

  private _closed(reason: string): void {
    this._read(false);
    if (this._over) return;
    const inOrder = reason === "end";
    const answer = this._busy && inOrder ? this._reader.peerClosed() : undefined;
    if (answer) this._answered(answer, false);
    else this._break(inOrder ? "connection closed by the peer" : reason);
  }

  private _answered(answer: Answer, clean: boolean): void {
    // An error may arrive early, but a success before the whole request is not for this request.
    if (this._out && answer.status < 400) {
      this._break("unlawful answer: before the request");
      return;
    }
    // After extra bytes, or an answer to half a request, the connection is out of step.
    const reusable = answer.reusable && clean && !this._out && this.clean;
    this._busy = false;
    this._stopTimer();
    this.keptAlive = true;
    this._idleSince = this._host.clock.now();
    this._phase = "idle";
    if (!reusable) this.close();
    this._user.answered(answer, reusable);
  }

  private _stopTimer(): void {
    this._cancel?.();
    this._cancel = undefined;
  }

  private _break(reason: string): void {
    if (this._over) return;
    this.close();
    this._user.broken(reason);
  }
}

const reasonOf = (problem: string): string => {
  return problem === GIVEN_UP ? problem : `unlawful answer: ${problem}`;
};
