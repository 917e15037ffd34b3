// In-memory sockets. The test is the other side: it is handed a `Peer` for each connection that the
// agent opens.
import type { Host, Socket, SocketEvent } from "../../src/port.js";
import type { FakeClock } from "./clock.js";

export interface NetOptions {
  /**
   * ms from one side to the other, in each direction; a function is asked once for each connection.
   * Default 1.
   */
  latencyMs?: number | (() => number);
  /**
   * Bytes that one `write` of the agent takes at most; the rest is taken at the next `writable`.
   * Default: all.
   */
  writeBytes?: number;
  /** Bytes that one `read` of the agent gives at most. Default: all there are. */
  readBytes?: number;
  /**
   * Bytes of the peer that arrive together, each group with a `readable` of its own. Default: what
   * one `send` sent.
   */
  segmentBytes?: number;
  /** ms that each such group takes: what follows it waits. Default 0. */
  segmentMs?: number;
}

const text = new TextDecoder();

/** The other side of one connection. All it does reaches the agent after the latency, in order. */
export class Peer {
  readonly name: string;
  readonly port: number;
  readonly secure: boolean;
  /** What the agent gave to each `write` that took something, as far as it was taken. */
  readonly writes: Uint8Array[] = [];
  /** Called when bytes arrive. */
  onData: ((bytes: Uint8Array) => void) | undefined;
  /** Called when the agent closed the connection. */
  onClose: (() => void) | undefined;
  /** True once the agent closed it. */
  closed = false;
  readonly #socket: FakeSocket;

  constructor(socket: FakeSocket, name: string, port: number, secure: boolean) {
    this.#socket = socket;
    this.name = name;
    this.port = port;
    this.secure = secure;
  }

  /** All that was written so far. */
  get received(): string {
    return this.writes.map((bytes) => text.decode(bytes)).join("");
  }

  /** Opens the connection. Happens by itself unless `net.onConnect` returns false. */
  accept(): void {
    this.#socket.fromPeer("opened");
  }

  send(data: string | Uint8Array): void {
    this.#socket.fromPeer("data", typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** Puts bytes where the agent's next read finds them, before any event says so. */
  arrive(data: Uint8Array | string): void {
    this.#socket.arrive(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** Closes in good order, after what was sent. */
  end(): void {
    this.#socket.fromPeer("closed", "end");
  }

  /** Breaks the connection, or refuses it. */
  reset(reason = "connection reset"): void {
    this.#socket.fromPeer("closed", reason);
  }
}

class FakeSocket implements Socket {
  readonly #clock: FakeClock;
  readonly #options: NetOptions;
  readonly #event: (what: SocketEvent, reason?: string) => void;
  readonly peer: Peer;
  #arrived: Uint8Array[] = [];
  #opened = false;
  /** The peer's end has come. */
  #over = false;
  #closed = false;
  #full = false;
  #freeAt = 0;
  /** What the peer did and the agent has not seen, in order. */
  readonly #coming: { readonly at: number; readonly run: () => number | undefined }[] = [];
  readonly #latencyMs: number;
  readonly #onBytes: (bytes: Uint8Array) => void;

  constructor(
    clock: FakeClock,
    options: NetOptions,
    address: { name: string; port: number; secure: boolean },
    event: (what: SocketEvent, reason?: string) => void,
    onBytes: (bytes: Uint8Array) => void,
  ) {
    this.#onBytes = onBytes;
    this.#clock = clock;
    this.#options = options;
    this.#event = event;
    const { latencyMs = 1 } = options;
    this.#latencyMs = typeof latencyMs === "number" ? latencyMs : latencyMs();
    this.peer = new Peer(this, address.name, address.port, address.secure);
  }

  write(bytes: Uint8Array): number {
    if (!this.#opened || this.#over || this.#closed || this.#full || bytes.length === 0) return 0;
    const taken = Math.min(bytes.length, this.#options.writeBytes ?? bytes.length);
    const copy = bytes.slice(0, taken);
    this.peer.writes.push(copy);
    this.#onBytes(copy);
    this.#later(() => this.peer.onData?.(copy));
    if (taken < bytes.length) {
      this.#full = true;
      this.#later(() => {
        this.#full = false;
        if (this.#live()) this.#event("writable");
      });
    }
    return taken;
  }

  read(into: Uint8Array): number {
    if (this.#closed) return 0;
    const most = Math.min(into.length, this.#options.readBytes ?? into.length);
    let done = 0;
    while (done < most && this.#arrived[0]) {
      const first = this.#arrived[0];
      const part = first.subarray(0, most - done);
      into.set(part, done);
      done += part.length;
      if (part.length === first.length) this.#arrived.shift();
      else this.#arrived[0] = first.subarray(part.length);
    }
    return done;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#later(() => {
      this.peer.closed = true;
      this.peer.onClose?.();
    });
  }

  arrive(bytes: Uint8Array): void {
    this.#onBytes(bytes);
    this.#arrived.push(bytes);
  }

  fromPeer(what: "opened" | "data" | "closed", detail?: string | Uint8Array): void {
    if (what === "data") {
      this.#onBytes(detail as Uint8Array);
      this.#segments(detail as Uint8Array);
    } else if (what === "opened") this.#inOrder(() => this.#open());
    else this.#inOrder(() => this.#end(detail as string));
  }

  #live(): boolean {
    return this.#opened && !this.#over && !this.#closed;
  }

  #segments(bytes: Uint8Array): void {
    const { segmentBytes = Math.max(1, bytes.length), segmentMs = 0 } = this.#options;
    let at = 0;
    const next = () => {
      if (!this.#live() || at >= bytes.length) return undefined;
      this.#arrived.push(bytes.slice(at, at + segmentBytes));
      at += segmentBytes;
      this.#event("readable");
      return at < bytes.length ? segmentMs : undefined;
    };
    this.#inOrder(next, segmentMs, segmentMs * (Math.ceil(bytes.length / segmentBytes) - 1));
  }

  #open(): undefined {
    if (this.#over || this.#closed || this.#opened) return;
    this.#opened = true;
    this.#event("opened");
  }

  #end(reason: string): undefined {
    if (this.#over || this.#closed) return;
    this.#over = true;
    this.#event("closed", reason);
  }

  #later(what: () => void): void {
    this.#clock.timer(this.#latencyMs, what);
  }

  /**
   * After all that the peer did before, and `delayMs`. Called again after the ms that it returns,
   * which are `moreMs` in all. Only the first of what comes has a timer: a long answer in small
   * segments, of which a closed socket takes no more, is no load on the clock.
   */
  #inOrder(run: () => number | undefined, delayMs = 0, moreMs = 0): void {
    const at = Math.max(this.#clock.now() + this.#latencyMs, this.#freeAt) + delayMs;
    this.#freeAt = at + moreMs;
    this.#coming.push({ at, run });
    if (this.#coming.length === 1) this.#await(at);
  }

  #await(at: number): void {
    this.#clock.timer(Math.max(0, at - this.#clock.now()), () => {
      const [first] = this.#coming;
      const againMs = first?.run();
      if (againMs !== undefined) return this.#await(this.#clock.now() + againMs);
      this.#coming.shift();
      if (this.#coming[0]) this.#await(this.#coming[0].at);
    });
  }
}

export class FakeNet {
  readonly options: NetOptions;
  /** One for each connection, in order. */
  readonly peers: Peer[] = [];
  /** Called when the agent opens a connection; it is accepted unless this returns false. */
  onConnect: ((peer: Peer) => unknown) | undefined;
  /** Called with all that goes over the wire, either way, in order. */
  onBytes: ((bytes: Uint8Array) => void) | undefined;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock, options: NetOptions = {}) {
    this.#clock = clock;
    this.options = options;
  }

  /** The connection opened last. */
  get last(): Peer {
    const peer = this.peers.at(-1);
    if (!peer) throw new Error("no connection was opened");
    return peer;
  }

  readonly open: Host["open"] = (name, port, secure, event) => {
    const onBytes = (bytes: Uint8Array) => this.onBytes?.(bytes);
    const socket = new FakeSocket(this.#clock, this.options, { name, port, secure }, event, onBytes);
    this.peers.push(socket.peer);
    // Never from within the call: the test's side looks at it when it comes.
    this.#clock.timer(0, () => {
      if (this.onConnect?.(socket.peer) !== false) socket.peer.accept();
    });
    return socket;
  };
}
