import { connect, isIP, type Socket as NetSocket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import { whyClosed } from "./why-closed.js";

/** Of what was written and not sent yet, and of what arrived and was not read yet, in bytes. */
const WINDOW = 64 * 1024;

type Tell = (what: SocketEvent, reason?: string) => void;

export interface SocketOptions {
  /** Certificates (PEM) to trust in place of those that Node brings. */
  ca?: string | undefined;
}

/** `open` of the port over node:net and node:tls. */
export function opener({ ca }: SocketOptions = {}): Host["open"] {
  return (name, port, secure, event) => {
    // URLs write IPv6 addresses in brackets.
    const host = name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
    return new HostSocket(() => dial(host, port, secure, ca), secure ? "secureConnect" : "connect", event);
  };
}

function dial(host: string, port: number, secure: boolean, ca: string | undefined): NetSocket {
  // The first address of several gets more than Node's 250 ms: a mobile network needs them.
  const to = { host, port, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2500, noDelay: true };
  if (!secure) return connect(to);
  return connectTls({
    ...to,
    // Without a name for SNI the certificate is verified for the address.
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    minVersion: "TLSv1.2",
  });
}

/** Of a stream: whose it is. */
const OWNER = Symbol("owner");

interface Owned extends NetSocket {
  [OWNER]: HostSocket;
}

/** Thousands of sockets may share a process, and these functions: each finds by `this` whom it is called for. */
function listen(stream: Owned, openedAt: string): void {
  stream.on(openedAt, opened).on("data", data).on("drain", drain);
  stream.on("end", end).on("error", failed).on("close", closed);
}

function opened(this: Owned): void {
  this[OWNER].opened();
}

function data(this: Owned, chunk: Uint8Array): void {
  this[OWNER].arrive(chunk);
}

function drain(this: Owned): void {
  this[OWNER].event("writable");
}

function end(this: Owned): void {
  this[OWNER].over("end");
}

function failed(this: Owned, error: Error): void {
  this[OWNER].over(whyClosed(error));
}

function closed(this: Owned): void {
  this[OWNER].over("closed");
}

class HostSocket implements Socket {
  readonly #tell: Tell;
  readonly #stream: NetSocket | undefined;
  #opened = false;
  #closed = false;
  // Pulled from the stream and not read yet: the stream itself forgets what it holds when it breaks.
  readonly #arrived: Uint8Array[] = [];
  #waiting = 0;
  #paused = false;

  constructor(make: () => NetSocket, openedAt: string, tell: Tell) {
    this.#tell = tell;
    try {
      this.#stream = make();
    } catch {
      // A port or name that no connection can have.
      setImmediate(() => this.over("bad address"));
      return;
    }
    listen(Object.assign(this.#stream, { [OWNER]: this }), openedAt);
  }

  write(bytes: Uint8Array): number {
    const stream = this.#stream;
    if (this.#closed || !this.#opened || !stream?.writable) return 0;
    const taken = Math.min(bytes.length, WINDOW - stream.writableLength);
    if (taken <= 0) return 0;
    // A copy: the caller's buffer is its own again at once.
    stream.write(Buffer.from(bytes.subarray(0, taken)));
    return taken;
  }

  read(into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const first = this.#arrived[0];
      if (!first) break;
      const part = first.subarray(0, into.length - done);
      into.set(part, done);
      done += part.length;
      if (part.length === first.length) this.#arrived.shift();
      else this.#arrived[0] = first.subarray(part.length);
    }
    this.#waiting -= done;
    if (this.#paused && this.#waiting < WINDOW) {
      this.#paused = false;
      this.#stream?.resume();
    }
    return done;
  }

  close(): void {
    this.#closed = true;
    this.#arrived.length = 0;
    this.#waiting = 0;
    this.#stream?.destroy();
  }

  // For `listen` alone.

  opened(): void {
    this.#opened = true;
    this.event("opened");
    // What came together with the handshake.
    if (!this.#closed && this.#waiting > 0) this.event("readable");
  }

  /** Beyond the window the stream rests, and TCP holds the peer back. */
  arrive(chunk: Uint8Array): void {
    if (this.#closed) return;
    this.#arrived.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting >= WINDOW && !this.#paused) {
      this.#paused = true;
      this.#stream?.pause();
    }
    if (this.#opened) this.event("readable");
  }

  over(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stream?.destroy();
    this.#tell("closed", reason);
  }

  event(what: SocketEvent): void {
    if (!this.#closed) this.#tell(what);
  }
}
