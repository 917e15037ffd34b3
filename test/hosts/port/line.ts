import type { Host, Socket, SocketEvent } from "../../../src/port.js";
import { check, until } from "./check.js";
import type { Place } from "./promised.js";

/** A socket, all that it reported, and all that was read. */
export class Line {
  readonly host: Host;
  readonly socket: Socket;
  readonly events: SocketEvent[] = [];
  readonly #read: Uint8Array[] = [];
  reason: string | undefined;
  on: Partial<Record<SocketEvent, () => void>> = {};

  constructor(host: Host, place: Place, on: Partial<Record<SocketEvent, () => void>> = {}) {
    this.host = host;
    this.on = on;
    let opening = true;
    this.socket = host.open(place.name, place.port, place.secure, (what, reason) => {
      check(!opening, `"${what}" from within open()`);
      this.events.push(what);
      if (what === "closed") this.reason = reason;
      this.on[what]?.();
    });
    opening = false;
  }

  /** Reads all there is, in pieces of `size`. */
  drain(size = 4096): void {
    const into = new Uint8Array(size);
    for (;;) {
      const got = this.socket.read(into);
      if (got === 0) return;
      this.#read.push(into.slice(0, got));
    }
  }

  get bytes(): Uint8Array {
    return join(this.#read);
  }

  /** The number of bytes read. */
  get length(): number {
    return this.#read.reduce((sum, piece) => sum + piece.length, 0);
  }

  count(what: SocketEvent): number {
    return this.events.filter((event) => event === what).length;
  }

  saw(what: SocketEvent): Promise<void> {
    return until(this.host, () => this.count(what) > 0, what);
  }
}

export function join(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
