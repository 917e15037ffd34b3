import Session, { type Pipe } from "ssl/session";
import Timer from "timer";
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import { type Notify, TcpSocket } from "../moddable/tcp.js";

/** TLS 1.2, the newest version of the SDK. */
const VERSION = 0x303;
/** Bytes per record: the SDK writes one per call. */
const RECORD = 16_384;
/** Limit of decrypted bytes that wait for the reader. */
const KEEP = 4096;
/** States of the SDK's handshake in which the client sends. */
const CLIENTS_TURN = [0, 14, 20];

/**
 * `open` of the port over the SDK's TCP and TLS. `authorities`: CA certificates (DER); without any,
 * no server is trusted.
 */
export const opener =
  (authorities: readonly Uint8Array[]): Host["open"] =>
  (name, port, secure, event) =>
    secure ? new TlsSocket(name, port, authorities, event) : new TcpSocket(name, port, event);

/**
 * TLS by the SDK's JavaScript session, for development on a trusted network only. Unlike a board's
 * TLS, it accepts any certificate as a CA, and rejects servers without an intermediate certificate.
 */
export class TlsSocket implements Socket {
  private readonly _name: string;
  private readonly _authorities: readonly Uint8Array[];
  private readonly _notify: Notify;
  private readonly _pipe: RecordPipe;
  private _session: Session | undefined;
  private _isOpen = false;
  private _isOver = false;
  private readonly _plain: Uint8Array[] = [];
  private _plainBytes = 0;

  constructor(name: string, port: number, authorities: readonly Uint8Array[], notify: Notify) {
    this._name = name;
    this._authorities = authorities;
    this._notify = notify;
    this._pipe = new RecordPipe(
      new TcpSocket(name, port, (what, reason) => this._guard(() => this._below(what, reason))),
    );
  }

  write(bytes: Uint8Array): number {
    if (this._isOver || !this._isOpen || !this._pipe.isIdle || bytes.length === 0) return 0;
    const count = Math.min(bytes.length, RECORD);
    try {
      this._session?.write(this._pipe, bytes.subarray(0, count));
      return count;
    } catch (error) {
      this._failLater(error);
      return 0;
    }
  }

  read(into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const first = this._plain[0] ?? this._decryptNext();
      if (!first) break;
      const part = first.subarray(0, into.length - done);
      into.set(part, done);
      done += part.length;
      this._plainBytes -= part.length;
      if (part.length === first.length) this._plain.shift();
      else this._plain[0] = first.subarray(part.length);
    }
    return done;
  }

  close(): void {
    this._isOver = true;
    this._plain.length = 0;
    this._plainBytes = 0;
    this._hangUp();
  }

  private _below(what: SocketEvent, reason: string | undefined): void {
    if (this._isOver) return;
    if (what === "opened") this._begin();
    else if (what === "readable") this._onReadable();
    else if (what === "writable") this._onWritable();
    else this._onClosed(reason ?? "connection closed");
  }

  private _begin(): void {
    // No session is resumed: the SDK identifies sessions by name only, regardless of the CAs.
    const session = new Session({ serverName: this._name, protocolVersion: VERSION, cache: false });
    for (const authority of this._authorities) register(session, authority);
    this._session = session;
    session.initiateHandshake();
    this._shake(session);
  }

  private _shake(session: Session): void {
    while (!session.handshake(this._pipe)) {
      if (session.alert) break;
      if (!CLIENTS_TURN.includes(session.handshakeProcess) && this._pipe.readable === 0) return;
    }
    if (session.alert) throw new Error("refused");
    this._isOpen = true;
    this._event("opened");
    if (this._pipe.readable > 0) this._onReadable();
  }

  private _onReadable(): void {
    const session = this._session;
    if (!session) return;
    if (!this._isOpen) this._shake(session);
    else {
      if (this._decrypt(KEEP)) this._event("readable");
      if (session.alert) this._close("end");
    }
  }

  private _onWritable(): void {
    this._pipe.flush();
    if (this._isOpen && this._pipe.isIdle) this._event("writable");
  }

  /** Decrypts until `keep` bytes wait. True if there are new bytes. */
  private _decrypt(keep: number): boolean {
    const before = this._plainBytes;
    while (this._session && !this._session.alert && this._plainBytes < keep && this._pipe.readable > 0) {
      const bytes = this._session.read(this._pipe);
      if (!bytes) break;
      if (bytes.length === 0) continue;
      this._plain.push(bytes);
      this._plainBytes += bytes.length;
    }
    return this._plainBytes > before;
  }

  /** The next bytes, after the reader took all waiting ones. */
  private _decryptNext(): Uint8Array | undefined {
    if (this._isOver || !this._isOpen) return undefined;
    try {
      this._decrypt(1);
      if (this._session?.alert) Timer.set(() => this._guard(() => this._close("end")), 0);
    } catch (error) {
      this._failLater(error);
    }
    return this._plain[0];
  }

  /**
   * TCP ended. That is normal only if the server announced it within TLS, because an attacker can
   * end TCP.
   */
  private _onClosed(reason: string): void {
    if (!this._isOpen) {
      this._close(this._session ? "TLS: no agreement with the other side" : reason);
      return;
    }
    this._decrypt(Number.POSITIVE_INFINITY);
    this._close(this._session?.alert ? "end" : reason === "end" ? "connection cut" : reason);
  }

  private _fail(error: unknown): void {
    const said = error instanceof Error ? error.message : "";
    if (this._isOpen) this._close("TLS: received data cannot be decrypted");
    else if (said.includes("certificate")) this._close("certificate: refused by the SDK's TLS");
    else this._close("TLS: no agreement with the other side");
  }

  /** Callbacks must not run during a call of the port. */
  private _failLater(error: unknown): void {
    Timer.set(() => this._guard(() => this._fail(error)), 0);
  }

  private _hangUp(): void {
    this._session = undefined;
    this._pipe.close();
  }

  private _close(reason: string): void {
    if (this._isOver) return;
    this._isOver = true;
    this._hangUp();
    this._notify("closed", reason);
  }

  private _event(what: SocketEvent): void {
    if (!this._isOver) this._notify(what);
  }

  /** The SDK's callbacks must not throw, which would end the simulator. */
  private _guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this._fail(error);
    }
  }
}

/** Expired CAs are left out, because the SDK throws on them. */
const register = (session: Session, authority: Uint8Array): void => {
  try {
    session.certificateManager.register(authority);
  } catch {}
};

/** Encrypted bytes between the SDK's session and TCP. Bytes that TCP does not accept wait here. */
class RecordPipe implements Pipe {
  writable = RECORD;
  private readonly _socket: TcpSocket;
  private readonly _waiting: Uint8Array[] = [];

  constructor(socket: TcpSocket) {
    this._socket = socket;
  }

  get readable(): number {
    return this._socket.available;
  }

  /** The session counts what it reads; the socket does so by itself. */
  set readable(_: number) {}

  get isIdle(): boolean {
    return this._waiting.length === 0;
  }

  read(into: Uint8Array): void {
    this._socket.read(into);
  }

  write(packet: Uint8Array): number {
    this._waiting.push(packet);
    this.flush();
    return RECORD;
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

  close(): void {
    this._socket.close();
  }
}
