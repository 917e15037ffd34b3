import { connect, isIP, type Socket as NetSocket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import { whyClosed } from "./why-closed.js";

/** Limit of unsent and of unread bytes. */
const WINDOW = 64 * 1024;

type Notify = (what: SocketEvent, reason?: string) => void;

/**
 * Shared read buffer. The agent usually takes bytes at once; the rest is copied before the next
 * read.
 */
const FRESH = new Uint8Array(WINDOW);

export interface SocketOptions {
  /** CAs (PEM) to trust instead of Node's. */
  ca?: string | readonly string[] | undefined;
  /** Trusts any certificate. For tests only: an attacker on the network can read the token. */
  insecureTls?: boolean | undefined;
}

/** `open` of the port, over node:net and node:tls. */
export function opener(options: SocketOptions = {}): Host["open"] {
  return (name, port, secure, event) => {
    // URLs put IPv6 addresses in brackets.
    const host = name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
    const dialled = (taken: (count: number) => boolean) => dial(host, port, secure, options, taken);
    return new HostSocket(dialled, secure ? "secureConnect" : "connect", event);
  };
}

/** `taken`: called with the number of bytes in FRESH. */
function dial(
  host: string,
  port: number,
  secure: boolean,
  { ca, insecureTls = false }: SocketOptions,
  taken: (count: number) => boolean,
): NetSocket {
  const to = {
    ...{ host, port, noDelay: true },
    // Give the first of several addresses more than Node's 250 ms, for mobile networks.
    ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2500 },
    // Bypass the stream's queue: no allocation per read, and nothing is left there.
    onread: { buffer: FRESH, callback: taken },
  };
  if (!secure) return connect(to);
  return connectTls({
    ...to,
    // Without a name for SNI, the certificate is verified for the address.
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca: typeof ca === "string" ? ca : [...ca] }),
    minVersion: "TLSv1.2",
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: !insecureTls,
  });
}

/** The socket that a stream belongs to. */
const HOST_SOCKET = Symbol("host socket");

interface SocketStream extends NetSocket {
  [HOST_SOCKET]: HostSocket;
}

/** Shared by all sockets of the process: each handler finds its socket through `this`. */
function listen(stream: SocketStream, openedAt: string): void {
  stream.on(openedAt, opened).on("drain", drain);
  stream.on("end", end).on("error", failed).on("close", closed);
}

function opened(this: SocketStream): void {
  this[HOST_SOCKET].opened();
}

function drain(this: SocketStream): void {
  this[HOST_SOCKET].event("writable");
}

function end(this: SocketStream): void {
  this[HOST_SOCKET].over("end");
}

function failed(this: SocketStream, error: Error): void {
  this[HOST_SOCKET].over(whyClosed(error));
}

function closed(this: SocketStream): void {
  this[HOST_SOCKET].over("closed");
}

class HostSocket implements Socket {
  readonly #notify: Notify;
  readonly #stream: NetSocket | undefined;
  #opened = false;
  #closed = false;
  /** Range in FRESH of unread bytes that just arrived. */
  #freshAt = 0;
  #freshEnd = 0;
  /** Earlier unread bytes. A stream discards its own when it breaks. */
  readonly #arrived: Uint8Array[] = [];
  #waiting = 0;
  #paused = false;

  constructor(dialled: (taken: (count: number) => boolean) => NetSocket, openedAt: string, notify: Notify) {
    this.#notify = notify;
    try {
      this.#stream = dialled((count) => this.#arrive(count));
    } catch {
      // An invalid port or name.
      setImmediate(() => this.over("bad address"));
      return;
    }
    listen(Object.assign(this.#stream, { [HOST_SOCKET]: this }), openedAt);
  }

  write(bytes: Uint8Array): number {
    const stream = this.#stream;
    if (this.#closed || !this.#opened || !stream?.writable) return 0;
    const taken = Math.min(bytes.length, WINDOW - stream.writableLength);
    if (taken <= 0) return 0;
    // Copied, because the caller may reuse its buffer at once.
    stream.write(Buffer.from(taken === bytes.length ? bytes : bytes.subarray(0, taken)));
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
    const fresh = Math.min(this.#freshEnd - this.#freshAt, into.length - done);
    if (fresh > 0) {
      into.set(FRESH.subarray(this.#freshAt, this.#freshAt + fresh), done);
      this.#freshAt += fresh;
      done += fresh;
    }
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
    this.#freshEnd = 0;
    this.#stream?.destroy();
  }

  // Only for `listen`.

  opened(): void {
    this.#opened = true;
    this.event("opened");
    // Data that arrived with the handshake.
    if (!this.#closed && this.#waiting > 0) this.event("readable");
  }

  over(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stream?.destroy();
    this.#notify("closed", reason);
  }

  event(what: SocketEvent): void {
    if (!this.#closed) this.#notify(what);
  }

  /**
   * `count` bytes are in FRESH. False beyond the limit: reading pauses, and TCP holds the peer
   * back.
   */
  #arrive(count: number): boolean {
    if (this.#closed) return false;
    this.#freshAt = 0;
    this.#freshEnd = count;
    if (this.#opened) this.event("readable");
    const left = this.#freshEnd - this.#freshAt;
    if (left > 0) this.#arrived.push(FRESH.slice(this.#freshAt, this.#freshEnd));
    this.#freshEnd = this.#freshAt = 0;
    this.#waiting += left;
    if (this.#waiting < WINDOW || this.#closed) return true;
    this.#paused = true;
    this.#stream?.pause();
    return false;
  }
}
