// The line between the fleet and the platform: it can be cut and mended, and counts what goes over it.
import type { Host, Socket } from "../../src/port.js";

export class Line {
  readonly #open: Host["open"];
  readonly #cuts = new Set<() => void>();
  #isCut = false;
  /** Connections asked for, and those that did not come about or broke. */
  asked = 0;
  broken = 0;

  constructor(open: Host["open"]) {
    this.#open = open;
  }

  /** Connections open or on their way. */
  get connections(): number {
    return this.#cuts.size;
  }

  /** Every connection breaks, and no new one comes about. */
  cut(): void {
    this.#isCut = true;
    for (const cut of [...this.#cuts]) cut();
  }

  restore(): void {
    this.#isCut = false;
  }

  readonly open: Host["open"] = (name, port, secure, event) => {
    this.asked++;
    if (this.#isCut) {
      this.broken++;
      setTimeout(() => event("closed", "the line is cut"), 0);
      return NO_SOCKET;
    }
    let over = false;
    const socket = this.#open(name, port, secure, (what, reason) => {
      if (what === "closed") {
        if (reason !== "end") this.broken++;
        end();
      }
      event(what, reason);
    });
    const end = (): void => {
      over = true;
      this.#cuts.delete(cut);
    };
    const cut = (): void => {
      if (over) return;
      end();
      this.broken++;
      socket.close();
      event("closed", "the line is cut");
    };
    this.#cuts.add(cut);
    return {
      write: (bytes) => socket.write(bytes),
      read: (into) => socket.read(into),
      close() {
        end();
        socket.close();
      },
    };
  };
}

const NO_SOCKET: Socket = { write: () => 0, read: () => 0, close: () => {} };
