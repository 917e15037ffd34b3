import type { Pipe } from "ssl/session";
import type { TcpSocket } from "../tcp.js";
import { Refused } from "./refused.js";

/** What a record may hold at most, with what TLS adds. A longer one would not fit into the board's memory, and is nobody's. */
const RECORD_AT_MOST = 16_384 + 256;
const HEADER = 5;
const NO_TLS = "TLS: the other side does not speak it (a port for http?)";

/** The other side's bytes, between the SDK's session and the socket. What the socket does not take waits here. */
export class Line implements Pipe {
  writable = RECORD_AT_MOST;
  private readonly _socket: TcpSocket;
  private readonly _waiting: Uint8Array[] = [];
  private readonly _header = new Uint8Array(HEADER);
  private _headed = 0;
  /** Bytes left of the present record. */
  private _left = 0;

  constructor(socket: TcpSocket) {
    this._socket = socket;
  }

  get readable(): number {
    return this._socket.available;
  }

  /** The session counts down what it reads; the socket knows it anyway. */
  set readable(_: number) {}

  get idle(): boolean {
    return this._waiting.length === 0;
  }

  /** Throws for a record that is too long, before the session makes room for it. */
  read(into: Uint8Array): void {
    this._socket.read(into);
    for (let at = 0; at < into.length; ) {
      const step = Math.min(into.length - at, this._left);
      this._left -= step;
      at += step;
      if (at < into.length) this._head(into[at++]!);
    }
  }

  write(packet: Uint8Array): number {
    this._waiting.push(packet);
    this.flush();
    return RECORD_AT_MOST;
  }

  flush(): void {
    for (let first = this._waiting[0]; first; first = this._waiting[0]) {
      const count = this._socket.write(first);
      if (count < first.length) {
        this._waiting[0] = first.subarray(count);
        return;
      }
      this._waiting.shift();
    }
  }

  private _head(byte: number): void {
    const header = this._header;
    header[this._headed++] = byte;
    if (this._headed === 1 && (byte < 20 || byte > 23)) throw new Refused(NO_TLS);
    if (this._headed < HEADER) return;
    this._headed = 0;
    this._left = header[3]! * 256 + header[4]!;
    if (header[1] !== 3 || this._left > RECORD_AT_MOST) throw new Refused(NO_TLS);
  }
}
