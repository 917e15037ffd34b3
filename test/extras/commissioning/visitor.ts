import type { Socket as NetSocket } from "node:net";
import type { Socket, SocketEvent } from "../../../src/port.js";

/** For the browser to take in what was sent. */
const LINGER_MS = 1000;

/** A connection that was taken, as the port has it. */
export class Visitor implements Socket {
  readonly #stream: NetSocket;
  #over = false;

  constructor(stream: NetSocket, event: (what: SocketEvent) => void) {
    this.#stream = stream;
    const notify = (what: SocketEvent) => (): void => {
      if (!this.#over) event(what);
    };
    stream.on("readable", notify("readable"));
    stream.on("drain", notify("writable"));
    stream.on("error", () => {});
    stream.on("close", notify("closed"));
  }

  write(bytes: Uint8Array): number {
    if (this.#over || this.#stream.writableNeedDrain) return 0;
    this.#stream.write(Buffer.from(bytes));
    return bytes.length;
  }

  read(into: Uint8Array): number {
    const chunk: Buffer | null = this.#over ? null : this.#stream.read();
    if (!chunk) return 0;
    into.set(chunk.subarray(0, into.length));
    if (chunk.length > into.length) this.#stream.unshift(chunk.subarray(into.length));
    return Math.min(chunk.length, into.length);
  }

  /** Sends pending answers and discards input, which could break them. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream.end();
    this.#stream.resume();
    setTimeout(() => this.#stream.destroy(), LINGER_MS).unref();
  }
}
