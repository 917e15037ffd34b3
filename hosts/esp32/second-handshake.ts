import type { Host, Socket, SocketEvent } from "../../src/port.js";

/** Seconds since 1970 minus the monotonic clock. */
export type Offset = number;

/** The time of certificates, as TimeOfDay has it. */
export interface CertificateTime {
  /** The time that verifies certificates now. */
  readonly offset: Offset;
  /** Another time, in seconds since 1970, at which the refused chain is valid. */
  otherTime(began: Offset): number | undefined;
  /** Verifies certificates at another time. The returned function keeps or reverts that time. */
  try(seconds: number): (isGood: boolean) => void;
  succeeded(): void;
}

/**
 * A TLS connection. If its handshake fails only because a certificate is not valid at the board's
 * time, it makes a second handshake with another time.
 */
export class SecondHandshake implements Socket {
  private readonly _time: CertificateTime;
  private readonly _event: (what: SocketEvent, reason?: string) => void;
  private readonly _open: () => Socket;
  private readonly _began: Offset;
  private _isOpening = true;
  private _endTrial: ((isGood: boolean) => void) | undefined;
  private _socket: Socket;

  constructor(
    time: CertificateTime,
    open: Host["open"],
    name: string,
    port: number,
    event: (what: SocketEvent, reason?: string) => void,
  ) {
    this._time = time;
    this._event = event;
    this._began = time.offset;
    const on = (what: SocketEvent, reason?: string): void => this._on(what, reason);
    this._open = () => open(name, port, true, on);
    this._socket = this._open();
  }

  write(bytes: Uint8Array): number {
    return this._socket.write(bytes);
  }

  read(into: Uint8Array): number {
    return this._socket.read(into);
  }

  close(): void {
    if (this._isOpening) this._endTrial?.(false);
    this._isOpening = false;
    this._socket.close();
  }

  private _on(what: SocketEvent, reason?: string): void {
    if (this._isOpening && what === "closed") {
      const other = this._endTrial ? undefined : this._time.otherTime(this._began);
      this._endTrial?.(false);
      if (other !== undefined) {
        this._endTrial = this._time.try(other);
        // A connection that ended keeps its memory until it is closed.
        this._socket.close();
        this._socket = this._open();
        return;
      }
    }
    if (what === "opened") {
      this._time.succeeded();
      this._endTrial?.(true);
    }
    this._isOpening = false;
    this._event(what, reason);
  }
}
