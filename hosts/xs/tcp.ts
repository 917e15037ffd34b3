import TCP from "embedded:io/socket/tcp";
import Timer from "timer";
import type { Socket, SocketEvent } from "../../src/port.js";
import { resolve } from "./resolve.js";

export type Tell = (what: SocketEvent, reason?: string) => void;

/** Of what was not read yet: beyond it the rest stays where it holds the peer back. */
const KEEP = 4096;
const KEEP_AT_MOST = 4 * KEEP;
/** The simulator's socket holds this much, and hears of no close while some of it, but not all, is filled. */
const FULL = 1536;
const NOTHING = new Uint8Array(0);

/** A TCP connection of the SDK's, whose callbacks must throw nothing: it would restart the machine. */
export class TcpSocket implements Socket {
  readonly #tell: Tell;
  #tcp: TCP | undefined;
  #opened = false;
  #over = false;
  /** In the SDK's buffers. */
  #readable = 0;
  #writable = 0;
  readonly #kept: Uint8Array[] = [];
  #keptBytes = 0;

  /** `to`: a name, or a connection that a listener took. */
  constructor(to: string | TCP, port: number, tell: Tell) {
    this.#tell = tell;
    if (typeof to !== "string") this.#dial({ from: to });
    else resolve(to, (address) => this.#guard(() => this.#connect(address, port)));
  }

  /** Bytes that can be read. */
  get available(): number {
    return this.#keptBytes + this.#readable;
  }

  write(bytes: Uint8Array): number {
    const count = Math.min(bytes.length, this.#writable);
    if (this.#over || !this.#tcp || count === 0) return 0;
    let left: number | undefined;
    try {
      left = offer(this.#tcp, count === bytes.length ? bytes : bytes.subarray(0, count));
    } catch {
      // It is over; onError says so.
    }
    this.#writable = left ?? 0;
    if (left !== undefined) return count;
    // The simulator's socket reports nothing after a write that failed.
    Timer.set(() => this.#guard(() => this.#close("connection reset")), 0);
    return 0;
  }

  read(into: Uint8Array): number {
    let done = 0;
    while (done < into.length) {
      const first = this.#kept[0];
      if (first) {
        const part = first.length > into.length - done ? first.subarray(0, into.length - done) : first;
        into.set(part, done);
        done += part.length;
        this.#keptBytes -= part.length;
        if (part === first) this.#kept.shift();
        else this.#kept[0] = first.subarray(part.length);
      } else {
        const count = Math.min(this.#readable, into.length - done);
        if (count === 0) break;
        this.#pull(into.subarray(done, done + count));
        done += count;
      }
    }
    return done;
  }

  close(): void {
    this.#over = true;
    this.#kept.length = 0;
    this.#keptBytes = 0;
    this.#drop();
  }

  #connect(address: string | undefined, port: number): void {
    if (this.#over) return;
    if (address === undefined) this.#close("name not found");
    else this.#dial({ address, port });
  }

  #dial(way: { address: string; port: number } | { from: TCP }): void {
    try {
      this.#tcp = new TCP({
        ...way,
        nodelay: true,
        onReadable: (count) => this.#guard(() => this.#onReadable(count)),
        onWritable: (count) => this.#guard(() => this.#onWritable(count)),
        onError: () => this.#guard(() => this.#onError()),
      });
    } catch {
      this.#close("bad address, or no socket left");
    }
  }

  #onWritable(count: number): void {
    this.#writable = count;
    if (this.#open()) this.#event("writable");
  }

  #onReadable(count: number): void {
    this.#readable = count;
    this.#open();
    this.#event("readable");
    // What nobody read is kept here, so that a close behind it is heard.
    const room = this.#readable < FULL ? KEEP_AT_MOST : KEEP;
    if (!this.#over && this.#readable > 0 && this.#keptBytes < room) this.#keep();
  }

  #onError(): void {
    this.#close(this.#opened ? this.#why() : "connection failed");
  }

  /** The SDK says that it is over, not how. After a peer's end the simulator's socket would still take a write; on ESP32 none says more. */
  #why(): string {
    try {
      return this.#tcp && offer(this.#tcp, NOTHING) === undefined ? "connection reset" : "end";
    } catch {
      return "end";
    }
  }

  /** True if it was open already. */
  #open(): boolean {
    if (this.#opened) return true;
    this.#opened = true;
    this.#event("opened");
    return false;
  }

  #keep(): void {
    const bytes = new Uint8Array(this.#readable);
    this.#pull(bytes);
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
  }

  #pull(into: Uint8Array): void {
    this.#readable -= into.length;
    this.#tcp?.read(into);
  }

  #close(reason: string): void {
    if (this.#over) return;
    if (this.#tcp && this.#readable > 0) this.#keep();
    this.#over = true;
    this.#drop();
    this.#tell("closed", reason);
  }

  #drop(): void {
    this.#readable = 0;
    const tcp = this.#tcp;
    this.#tcp = undefined;
    tcp?.close();
  }

  #event(what: SocketEvent): void {
    if (!this.#over) this.#tell(what);
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch {
      try {
        this.#close("internal error");
      } catch {
        // Nothing may reach the SDK.
      }
    }
  }
}

/** What the socket then takes more; undefined if it failed. (The SDK's types say that it returns nothing.) */
function offer(tcp: TCP, bytes: Uint8Array): number | undefined {
  return tcp.write(bytes) as number | undefined;
}
