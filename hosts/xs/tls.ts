import Session from "ssl/session";
import Timer from "timer";
import type { Socket, SocketEvent } from "../../src/port.js";
import { isIpv4 } from "../x509/ipv4.js";
import { TcpSocket, type Tell } from "./tcp.js";
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
}

/** A TLS connection by the SDK's session, over a socket whose callbacks are guarded. */
export class TlsSocket implements Socket {
  readonly #name: string;
  readonly #port: number;
  readonly #options: TlsOptions;
  readonly #tell: Tell;
  #socket: TcpSocket;
  #line: Line;
  #session: Session | undefined;
  /** Asks the server for short records: some can't send their certificates in them, and are asked once more without. */
  #short = true;
  #ready = false;
  #over = false;
  readonly #plain: Uint8Array[] = [];
  #plainBytes = 0;

  constructor(name: string, port: number, options: TlsOptions, tell: Tell) {
    this.#name = name;
    this.#port = port;
    this.#options = options;
    this.#tell = tell;
    this.#socket = this.#dial();
    this.#line = new Line(this.#socket);
  }

  write(bytes: Uint8Array): number {
    if (this.#over || !this.#ready || !this.#line.idle || bytes.length === 0) return 0;
    const count = Math.min(bytes.length, PIECE);
    try {
      this.#session?.write(this.#line, bytes.subarray(0, count));
      return count;
    } catch (error) {
      Timer.set(() => this.#guard(() => this.#fail(error)), 0);
      return 0;
    }
  }

  read(into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const first = this.#plain[0] ?? this.#decryptAgain();
      if (!first) break;
      const part = first.length > into.length - done ? first.subarray(0, into.length - done) : first;
      into.set(part, done);
      done += part.length;
      this.#plainBytes -= part.length;
      if (part === first) this.#plain.shift();
      else this.#plain[0] = first.subarray(part.length);
    }
    return done;
  }

  close(): void {
    this.#over = true;
    this.#plain.length = 0;
    this.#plainBytes = 0;
    this.#hangUp();
  }

  #dial(): TcpSocket {
    const socket: TcpSocket = new TcpSocket(this.#name, this.#port, (what, reason) => {
      if (socket === this.#socket) this.#guard(() => this.#below(what, reason));
    });
    return socket;
  }

  #below(what: SocketEvent, reason: string | undefined): void {
    if (this.#over) return;
    if (what === "opened") this.#begin();
    else if (what === "readable") this.#onReadable();
    else if (what === "writable") this.#onWritable();
    else this.#broken(reason ?? "connection closed");
  }

  #begin(): void {
    const session = new Session({
      // An address is no name to ask for, and no key to keep a session by.
      ...(!isIpv4(this.#name) && { tls_server_name: this.#name }),
      peerName: this.#name,
      protocolVersion: VERSION,
      authorities: this.#options.authorities,
      ...(this.#short && { tls_max_fragment_length: RECORD }),
    });
    this.#session = session;
    session.initiateHandshake();
    this.#shake(session);
  }

  /** Step by step: the SDK takes data before the end of the handshake for data that came after. */
  #shake(session: Session): void {
    for (;;) {
      const done = session.handshake(this.#line);
      if (session.alert) throw new Refused("TLS: refused by the other side");
      if (session.applicationData) throw new Refused("TLS: messages out of order");
      if (done) break;
      if (!OURS.includes(session.handshakeProcess) && this.#line.readable === 0) return;
    }
    if (!session.serverCipher || !session.clientCipher) throw new Refused("TLS: no keys were agreed on");
    this.#ready = true;
    this.#event("opened");
    if (this.#line.readable > 0) this.#onReadable();
  }

  #onReadable(): void {
    const session = this.#session;
    if (!session) return;
    if (!this.#ready) this.#shake(session);
    else {
      if (this.#decrypt(KEEP)) this.#event("readable");
      if (session.alert) this.#close("end");
    }
  }

  #onWritable(): void {
    this.#line.flush();
    if (this.#ready && this.#line.idle) this.#event("writable");
  }

  /** Until `keep` bytes wait. True if there is something new. */
  #decrypt(keep: number): boolean {
    const before = this.#plainBytes;
    while (this.#session && !this.#session.alert && this.#plainBytes < keep && this.#line.readable > 0) {
      const bytes = this.#session.read(this.#line);
      if (!bytes) break;
      if (bytes.length === 0) continue;
      this.#plain.push(bytes);
      this.#plainBytes += bytes.length;
    }
    return this.#plainBytes > before;
  }

  /** The reader emptied what was kept: there may be more. */
  #decryptAgain(): Uint8Array | undefined {
    if (this.#over || !this.#ready) return undefined;
    try {
      this.#decrypt(1);
      if (this.#session?.alert) Timer.set(() => this.#guard(() => this.#close("end")), 0);
    } catch (error) {
      Timer.set(() => this.#guard(() => this.#fail(error)), 0);
    }
    return this.#plain[0];
  }

  /** The connection below ended. In good order only if the other side said so within TLS: anybody can cut a connection. */
  #broken(reason: string): void {
    if (this.#ready) {
      this.#decrypt(Number.POSITIVE_INFINITY);
      this.#close(
        this.#session?.alert || reason !== "end" ? (this.#session?.alert ? "end" : reason) : "connection cut",
      );
    } else if (this.#session) this.#fail(new Error(reason));
    else this.#close(reason);
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    if (isRefused(error)) this.#close(error.message);
    else if (this.#ready) this.#close("TLS: what came can't be decrypted");
    else if (this.#short) this.#again();
    else this.#close("TLS: no agreement with the other side");
  }

  #again(): void {
    this.#short = false;
    this.#hangUp();
    this.#socket = this.#dial();
    this.#line = new Line(this.#socket);
  }

  #hangUp(): void {
    this.#session = undefined;
    this.#socket.close();
  }

  #close(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#hangUp();
    this.#tell("closed", reason);
  }

  #event(what: SocketEvent): void {
    if (!this.#over) this.#tell(what);
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      try {
        this.#fail(error);
      } catch {
        this.#close("internal error");
      }
    }
  }
}

/** The steps of a handshake that wait for nothing: the hello, and what follows the server's last message and its finish. */
const OURS = [0, 14, 20];
