// One socket from its opening to its end, and the one request that is on it.
import type { Host, Socket, SocketEvent } from "../port.js";
import { SILENCE, UNCONNECTED } from "./outcome.js";
import type { Request } from "./request.js";
import { type Answer, GIVEN_UP, ResponseReader } from "./response.js";
import type { Target } from "./target.js";

/** What a request of which nothing more is heard was waiting for. */
const PHASES = {
  opening: UNCONNECTED,
  idle: "not sent in time",
  writing: "not sent in time",
  waiting: SILENCE,
} as const;

type Phase = keyof typeof PHASES;

/** Told of what becomes of the channel; never from within a call to it. */
export interface ChannelOwner {
  /** The last byte of the request was handed over. */
  sent(): void;
  /** The answer is there; `reusable`: the channel takes another request. Otherwise it is closed. */
  answered(answer: Answer, reusable: boolean): void;
  /** The channel ended by itself, with a request on it or without. Once at most. */
  broken(reason: string): void;
}

export class Channel {
  readonly #host: Host;
  readonly #owner: ChannelOwner;
  readonly #buffer: Uint8Array;
  readonly #reader: ResponseReader;
  #socket: Socket | undefined;
  #phase: Phase = "opening";
  #over = false;
  /** What is left to write begins at `#outAt`. */
  #out: Uint8Array | undefined;
  #outAt = 0;
  #busy = false;
  #idleSince = 0;
  /** True once a request was answered: what it sends next may meet a connection that the peer has closed. */
  kept = false;

  constructor(host: Host, target: Target, buffer: Uint8Array, owner: ChannelOwner) {
    this.#host = host;
    this.#owner = owner;
    this.#buffer = buffer;
    this.#reader = new ResponseReader();
    const event = (what: SocketEvent, reason?: string) => this.#event(what, reason);
    try {
      this.#socket = host.open(target.name, target.port, target.secure, event);
    } catch {
      host.clock.timer(0, () => this.#break("the host can't open a connection"));
    }
  }

  /** Sends `bytes` as soon as the socket is open, and reads the answer. One at a time. */
  run(request: Request, bytes: Uint8Array): void {
    // Heads are noted where one batch or RPC follows the other: what is noted takes slots.
    const alike = request.alike || request.headRoom;
    this.#reader.begin(request.limit, request.sink, alike ? this.#host : undefined);
    this.#out = bytes;
    this.#outAt = 0;
    this.#busy = true;
    if (this.#phase === "opening") return;
    this.#phase = "writing";
    this.#guard(() => this.#write());
  }

  /** Bytes of the request that were handed to the socket. */
  get handed(): number {
    return this.#outAt;
  }

  /** True once a byte of the answer has come. */
  get answering(): boolean {
    return this.#reader.started;
  }

  /** What the request is waiting for, for people. */
  get waitingFor(): string {
    return this.answering ? "answer not complete in time" : PHASES[this.#phase];
  }

  /** ms since the last answer; 0 while a request is on it. */
  get idleMs(): number {
    return this.#busy ? 0 : this.#host.clock.now() - this.#idleSince;
  }

  /** Gives the socket up. Nothing more is told. */
  close(): void {
    this.#over = true;
    this.#out = undefined;
    try {
      this.#socket?.close();
    } catch {
      // It is given up anyway.
    }
  }

  #event(what: SocketEvent, reason: string | undefined): void {
    if (this.#over) return;
    this.#guard(() => {
      switch (what) {
        case "opened":
          return this.#opened();
        case "writable":
          return this.#write();
        case "readable":
          return this.#read(true);
        case "closed":
          return this.#closed(reason ?? "connection closed");
      }
    });
  }

  /** No exception reaches the host: there it would end the run. */
  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#host.log("error", `net: ${error instanceof Error ? error.name : "unknown error"}`);
      this.#host.clock.timer(0, () => this.#break("internal error"));
    }
  }

  #opened(): void {
    if (this.#phase !== "opening") return;
    this.#phase = this.#busy ? "writing" : "idle";
    this.#write();
  }

  /** Offers the rest until nothing of it is taken; then the socket says when to go on. */
  #write(): void {
    const out = this.#out;
    if (!out || this.#phase !== "writing" || !this.#socket) return;
    while (this.#outAt < out.length) {
      const rest = this.#outAt === 0 ? out : out.subarray(this.#outAt);
      const taken = this.#socket.write(rest);
      if (!(taken > 0)) return;
      this.#outAt += Math.min(rest.length, taken);
    }
    this.#out = undefined;
    this.#phase = "waiting";
    this.#owner.sent();
  }

  #read(open: boolean): void {
    const buffer = this.#buffer;
    while (!this.#over && this.#socket) {
      const count = Math.min(buffer.length, this.#socket.read(buffer));
      if (count <= 0) return;
      if (!this.#busy) {
        this.#break("unasked bytes");
        return;
      }
      const at = this.#reader.feed(buffer, 0, count);
      if (this.#over) return;
      const { flaw, answer } = this.#reader;
      if (flaw) this.#break(reasonOf(flaw));
      if (answer) this.#answered(answer, open && at === count);
      if (flaw || answer) return;
    }
  }

  #closed(reason: string): void {
    this.#read(false);
    if (this.#over) return;
    const inOrder = reason === "end";
    const answer = this.#busy && inOrder ? this.#reader.end() : undefined;
    if (answer) this.#answered(answer, false);
    else this.#break(inOrder ? "connection closed by the peer" : reason);
  }

  #answered(answer: Answer, clean: boolean): void {
    // More than the answer, or an answer to half a request: what comes next on this connection is anybody's guess.
    const reusable = answer.reusable && clean && !this.#out && this.#socket?.read(this.#buffer) === 0;
    this.#busy = false;
    this.kept = true;
    this.#idleSince = this.#host.clock.now();
    this.#phase = "idle";
    if (!reusable) this.close();
    this.#owner.answered(answer, reusable);
  }

  #break(reason: string): void {
    if (this.#over) return;
    this.close();
    this.#owner.broken(reason);
  }
}

function reasonOf(flaw: string): string {
  return flaw === GIVEN_UP ? flaw : `unlawful answer: ${flaw}`;
}
