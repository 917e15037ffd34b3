import Session from "ssl/session";
import Timer from "timer";
import type { Socket, SocketEvent } from "../../src/port.js";
import { isIpv4 } from "../shared/x509/ipv4.js";
import { type Notify, TcpSocket } from "./tcp.js";
import { Line } from "./tls/line.js";
import { isRefused, Refused } from "./tls/refused.js";

/** TLS 1.2, the newest that the SDK speaks. */
const VERSION = 0x303;
/** Asked of the server for a record, so that one fits beside everything else. */
const RECORD = 4096;
/** Of what is written goes into one record: with what TLS adds, it fits a segment. */
const PIECE = 1400;
/** Of decrypted data that nobody read. */
const KEEP = 4096;

export interface TlsOptions {
  /** Certificates of authorities, DER. Without one nothing is trusted. */
  authorities: readonly Uint8Array[];
  /** Shakes hands in full, whatever session there was. */
  isFresh?: boolean | undefined;
  /** Of TCP: see TcpSocket. */
  keep?: number | undefined;
}

/** A TLS connection by the SDK's session, over a socket whose callbacks are guarded. */
export class TlsSocket implements Socket {
  private readonly _name: string;
  private readonly _port: number;
  private readonly _options: TlsOptions;
  private readonly _notify: Notify;
  private _socket: TcpSocket;
  private _line: Line;
  private _session: Session | undefined;
  /** Asks the server for short records: some can't send their certificates in them, and are asked once more without. */
  private _short = true;
  private _ready = false;
  private _over = false;
  private readonly _plain: Uint8Array[] = [];
  private _plainBytes = 0;

  constructor(name: string, port: number, options: TlsOptions, notify: Notify) {
    this._name = name;
    this._port = port;
    this._options = options;
    this._notify = notify;
    this._socket = this._dial();
    this._line = new Line(this._socket);
  }

  write(bytes: Uint8Array): number {
    if (this._over || !this._ready || !this._line.idle || bytes.length === 0) return 0;
    const count = Math.min(bytes.length, PIECE);
    try {
      this._session?.write(this._line, bytes.subarray(0, count));
      return count;
    } catch (error) {
      Timer.set(() => this._guard(() => this._fail(error)), 0);
      return 0;
    }
  }

  read(into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const first = this._plain[0] ?? this._decryptAgain();
      if (!first) break;
      const part = first.length > into.length - done ? first.subarray(0, into.length - done) : first;
      into.set(part, done);
      done += part.length;
      this._plainBytes -= part.length;
      if (part === first) this._plain.shift();
      else this._plain[0] = first.subarray(part.length);
    }
    return done;
  }

  close(): void {
    this._over = true;
    this._plain.length = 0;
    this._plainBytes = 0;
    this._hangUp();
  }

  private _dial(): TcpSocket {
    const socket: TcpSocket = new TcpSocket(
      this._name,
      this._port,
      (what, reason) => {
        if (socket === this._socket) this._guard(() => this._below(what, reason));
      },
      this._options.keep,
    );
    return socket;
  }

  private _below(what: SocketEvent, reason: string | undefined): void {
    if (this._over) return;
    if (what === "opened") this._begin();
    else if (what === "readable") this._onReadable();
    else if (what === "writable") this._onWritable();
    else this._broken(reason ?? "connection closed");
  }

  private _begin(): void {
    const session = new Session({
      // An address is no name to ask for, and no key to keep a session by.
      ...(!isIpv4(this._name) && { tls_server_name: this._name }),
      peerName: this._name,
      protocolVersion: VERSION,
      authorities: this._options.authorities,
      ...(this._options.isFresh && { cache: false }),
      ...(this._short && { tls_max_fragment_length: RECORD }),
    });
    this._session = session;
    session.initiateHandshake();
    this._shake(session);
  }

  /** Step by step: the SDK takes data before the end of the handshake for data that came after. */
  private _shake(session: Session): void {
    for (;;) {
      const done = session.handshake(this._line);
      if (session.alert) throw new Refused("TLS: refused by the other side");
      if (session.applicationData) throw new Refused("TLS: messages out of order");
      if (done) break;
      if (!OURS.includes(session.handshakeProcess) && this._line.readable === 0) return;
    }
    if (!session.serverCipher || !session.clientCipher) throw new Refused("TLS: no keys were agreed on");
    this._ready = true;
    this._event("opened");
    if (this._line.readable > 0) this._onReadable();
  }

  private _onReadable(): void {
    const session = this._session;
    if (!session) return;
    if (!this._ready) this._shake(session);
    else {
      if (this._decrypt(KEEP)) this._event("readable");
      if (session.alert) this._close("end");
    }
  }

  private _onWritable(): void {
    this._line.flush();
    if (this._ready && this._line.idle) this._event("writable");
  }

  /** Until `keep` bytes wait. True if there is something new. */
  private _decrypt(keep: number): boolean {
    const before = this._plainBytes;
    while (this._session && !this._session.alert && this._plainBytes < keep && this._line.readable > 0) {
      const bytes = this._session.read(this._line);
      if (!bytes) break;
      if (bytes.length === 0) continue;
      this._plain.push(bytes);
      this._plainBytes += bytes.length;
    }
    return this._plainBytes > before;
  }

  /** The reader emptied what was kept: there may be more. */
  private _decryptAgain(): Uint8Array | undefined {
    if (this._over || !this._ready) return undefined;
    try {
      this._decrypt(1);
      if (this._session?.alert) Timer.set(() => this._guard(() => this._close("end")), 0);
    } catch (error) {
      Timer.set(() => this._guard(() => this._fail(error)), 0);
    }
    return this._plain[0];
  }

  /** The connection below ended. In good order only if the other side said so within TLS: anybody can cut a connection. */
  private _broken(reason: string): void {
    if (this._ready) {
      this._decrypt(Number.POSITIVE_INFINITY);
      this._close(
        this._session?.alert || reason !== "end" ? (this._session?.alert ? "end" : reason) : "connection cut",
      );
    } else if (this._session) this._fail(new Error(reason));
    else this._close(reason);
  }

  private _fail(error: unknown): void {
    if (this._over) return;
    if (isRefused(error)) this._close(error.message);
    else if (this._ready) this._close("TLS: what came can't be decrypted");
    else if (this._short) this._again();
    else this._close("TLS: no agreement with the other side");
  }

  private _again(): void {
    this._short = false;
    this._hangUp();
    this._socket = this._dial();
    this._line = new Line(this._socket);
  }

  private _hangUp(): void {
    this._session = undefined;
    this._socket.close();
  }

  private _close(reason: string): void {
    if (this._over) return;
    this._over = true;
    this._hangUp();
    this._notify("closed", reason);
  }

  private _event(what: SocketEvent): void {
    if (!this._over) this._notify(what);
  }

  private _guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      try {
        this._fail(error);
      } catch {
        this._close("internal error");
      }
    }
  }
}

/** The steps of a handshake that wait for nothing: the hello, and what follows the server's last message and its finish. */
const OURS = [0, 14, 20];
