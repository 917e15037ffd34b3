// The network between fleet and platform: can be cut and restored, and counts traffic.
import type { Host, Socket, SocketEvent } from "../../../src/port.js";

type Notify = (what: SocketEvent, reason?: string) => void;

export class SimulatedNetwork {
  readonly #open: Host["open"];
  readonly #sockets = new Set<LineSocket>();
  #isCut = false;
  /** Connections that did not come about or broke. */
  broken = 0;

  constructor(open: Host["open"]) {
    this.#open = open;
  }

  /** Connections open or on their way. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Every connection breaks, and no new one comes about. */
  cut(): void {
    this.#isCut = true;
    for (const socket of [...this.#sockets]) socket.cut();
  }

  restore(): void {
    this.#isCut = false;
  }

  readonly open: Host["open"] = (name, port, secure, notify) => {
    if (this.#isCut) {
      this.broken++;
      setTimeout(() => notify("closed", "the network is cut"), 0);
      return NO_SOCKET;
    }
    const socket = new LineSocket(this, notify);
    this.#sockets.add(socket);
    socket.host = this.#open(name, port, secure, (what, reason) => socket.event(what, reason));
    return socket;
  };

  /** For its sockets alone. False if it was over before. */
  ended(socket: LineSocket, broke: boolean): boolean {
    const ends = this.#sockets.delete(socket);
    if (ends && broke) this.broken++;
    return ends;
  }
}

/** A class and no closures: thousands of these are open. */
class LineSocket implements Socket {
  readonly #network: SimulatedNetwork;
  readonly #notify: Notify;
  host: Socket = NO_SOCKET;

  constructor(network: SimulatedNetwork, notify: Notify) {
    this.#network = network;
    this.#notify = notify;
  }

  write(bytes: Uint8Array): number {
    return this.host.write(bytes);
  }

  read(into: Uint8Array): number {
    return this.host.read(into);
  }

  close(): void {
    this.#network.ended(this, false);
    this.host.close();
  }

  event(what: SocketEvent, reason: string | undefined): void {
    if (what === "closed") this.#network.ended(this, reason !== "end");
    this.#notify(what, reason);
  }

  cut(): void {
    if (!this.#network.ended(this, true)) return;
    this.host.close();
    this.#notify("closed", "the network is cut");
  }
}

const NO_SOCKET: Socket = { write: () => 0, read: () => 0, close: () => {} };
