import TCP from "embedded:io/socket/tcp";
import Timer from "timer";
import type { Socket, SocketEvent } from "../../src/port.js";
import { resolve } from "./resolve.js";

export type Notify = (what: SocketEvent, reason?: string) => void;

/** Limit of unread bytes; beyond it, TCP holds the peer back. */
const KEEP = 4096;
/** The same limit while only a little arrived at once. */
const KEEP_AT_MOST = 4 * KEEP;
/** Buffer size of the simulator's socket. It misses a close while the buffer is partly filled. */
const FULL = 1536;
const NOTHING = new Uint8Array(0);
const RESET = "connection reset";

/** A TCP connection of the SDK. Its callbacks must not throw, which would restart the machine. */
export class TcpSocket implements Socket {
  private readonly _notify: Notify;
  private _tcp: TCP | undefined;
  private _opened = false;
  private _over = false;
  /** Bytes in the SDK's buffers. */
  private _readable = 0;
  private _writable = 0;
  private readonly _received: Uint8Array[] = [];
  private _keptBytes = 0;
  private readonly _keep: number;

  /** `to`: a name, or a connection from a listener. `keep`: maximum of unread bytes. */
  constructor(to: string | TCP, port: number, notify: Notify, keep = KEEP_AT_MOST) {
    this._notify = notify;
    this._keep = keep;
    if (typeof to !== "string") this._dial({ from: to });
    else resolve(to, (address) => this._guard(this._connect, address ? { address, port } : undefined));
  }

  /** Number of readable bytes. */
  get available(): number {
    return this._keptBytes + this._readable;
  }

  write(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this._writable);
    if (this._over || !this._tcp || count === 0) return 0;
    let left: number | undefined;
    try {
      left = offer(this._tcp, count === bytes.length ? bytes : bytes.subarray(0, count));
    } catch {
      // The connection ended; onError reports it.
    }
    this._writable = left ?? 0;
    if (left !== undefined) return count;
    // The simulator's socket reports nothing after a failed write.
    Timer.set(() => this._guard(this._close, RESET), 0);
    return 0;
  }

  read(into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const first = this._received[0];
      if (first) {
        const part = first.length > into.length - done ? first.subarray(0, into.length - done) : first;
        into.set(part, done);
        done += part.length;
        this._keptBytes -= part.length;
        if (part === first) this._received.shift();
        else this._received[0] = first.subarray(part.length);
      } else {
        const count = Math.min(this._readable, into.length - done);
        if (count === 0) break;
        this._pull(into.subarray(done, done + count));
        done += count;
      }
    }
    return done;
  }

  close(): void {
    this._over = true;
    this._received.length = 0;
    this._keptBytes = 0;
    this._drop();
  }

  /** `to`: undefined if the name was not found. */
  private _connect(to: { address: string; port: number } | undefined): void {
    if (this._over) return;
    if (to) this._dial(to);
    else this._close("name not found");
  }

  private _dial(way: { address: string; port: number } | { from: TCP }): void {
    try {
      this._tcp = new TCP({
        ...way,
        nodelay: true,
        onReadable: (count) => this._guard(this._onReadable, count),
        onWritable: (count) => this._guard(this._onWritable, count),
        onError: () => this._guard(this._onError, undefined),
      });
    } catch {
      // Later, because no event may come during the call that opens the connection.
      Timer.set(() => this._guard(this._close, "bad address, or no socket left"), 0);
    }
  }

  private _onWritable(count: number): void {
    this._writable = count;
    if (this._open()) this._event("writable");
  }

  private _onReadable(count: number): void {
    this._readable = count;
    this._open();
    this._event("readable");
    // Store unread bytes here, so that a close behind them is noticed.
    const room = Math.min(this._keep, this._readable < FULL ? KEEP_AT_MOST : KEEP);
    if (!this._over && this._readable > 0 && this._keptBytes < room) this._take();
  }

  private _onError(): void {
    this._close(this._opened ? this._why() : "connection failed");
  }

  /**
   * The SDK reports the end without a reason. After a peer's end, the simulator's socket still
   * accepts a write.
   */
  private _why(): string {
    try {
      return this._tcp && offer(this._tcp, NOTHING) === undefined ? RESET : "end";
    } catch {
      return this._canBeMoved() ? "end" : RESET;
    }
  }

  /**
   * On ESP32, an ended socket rejects every write. After a peer's end it can still be moved to
   * another object; after a reset it cannot.
   */
  private _canBeMoved(): boolean {
    try {
      this._tcp = this._tcp && new TCP({ from: this._tcp });
      return true;
    } catch {
      return false;
    }
  }

  /** True if it was open already. */
  private _open(): boolean {
    if (this._opened) return true;
    this._opened = true;
    this._event("opened");
    return false;
  }

  private _take(): void {
    const bytes = new Uint8Array(this._readable);
    this._pull(bytes);
    this._received.push(bytes);
    this._keptBytes += bytes.length;
  }

  private _pull(into: Uint8Array): void {
    this._readable -= into.length;
    this._tcp?.read(into);
  }

  private _close(reason: string): void {
    if (this._over) return;
    if (this._tcp && this._readable > 0) this._take();
    this._over = true;
    this._drop();
    this._notify("closed", reason);
  }

  private _drop(): void {
    this._readable = 0;
    const tcp = this._tcp;
    this._tcp = undefined;
    tcp?.close();
  }

  private _event(what: SocketEvent): void {
    if (!this._over) this._notify(what);
  }

  /**
   * Calls `method` and catches its exceptions, which would restart the machine. Takes no closure,
   * because XS copies a closure's code into RAM.
   */
  private _guard<V>(method: (value: V) => void, value: V): void {
    try {
      method.call(this, value);
    } catch {
      try {
        this._close("internal error");
      } catch {
        // An exception must not reach the SDK.
      }
    }
  }
}

/**
 * Number of bytes that the socket still accepts; undefined if it failed. (The SDK's types declare
 * no result.)
 */
const offer = (tcp: TCP, bytes: Uint8Array): number | undefined => {
  return tcp.write(bytes) as number | undefined;
};
