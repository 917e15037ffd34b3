import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { reset } from "../../../tools/platform/reset.js";
import { freePort, listen } from "../../fakes/listen.js";
import type { Peer, PeerScript, Place } from "./promised.js";
import { CERT, KEY } from "./tls-fixture.js";

/** How a host reaches this machine, and what it trusts there. */
export interface Here {
  readonly name: string;
  readonly secureName: string;
  readonly cert: string;
  readonly key: string;
}

const LOOPBACK: Here = { name: "127.0.0.1", secureName: "localhost", cert: CERT, key: KEY };

/** Peers on the loopback address. */
export class Listeners {
  readonly #secure: boolean;
  readonly #here: Here;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(secure = false, here = LOOPBACK) {
    this.#secure = secure;
    this.#here = here;
  }

  async listen(script: PeerScript): Promise<Place> {
    // What TLS stands on is what breaks.
    const below = new Map<number | undefined, Socket>();
    const serve = (socket: Socket): void =>
      this.#serve(socket, below.get(socket.remotePort) ?? socket, script);
    const { cert, key, name, secureName } = this.#here;
    const server = this.#secure ? createTlsServer({ cert, key }, serve) : createServer(serve);
    if (this.#secure) server.on("connection", (socket: Socket) => below.set(socket.remotePort, socket));
    this.#servers.push(server);
    const port = await listen(server);
    return { name: this.#secure ? secureName : name, port, secure: this.#secure };
  }

  /** A port that was free a moment ago. */
  async nowhere(): Promise<Place> {
    return { name: this.#here.name, port: await freePort(), secure: this.#secure };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #serve(socket: Socket, below: Socket, script: PeerScript): void {
    this.#sockets.add(socket);
    const peer: Peer = {
      write: (bytes) => void socket.write(Buffer.from(bytes)),
      end: () => void socket.end(),
      reset: () => void reset(below),
      hold: () => void socket.pause(),
      release: () => void socket.resume(),
    };
    socket.on("error", () => {});
    socket.on("data", (bytes) => script.bytes?.(peer, bytes));
    socket.on("close", () => {
      this.#sockets.delete(socket);
      script.closed?.();
    });
    script.opened?.(peer);
  }
}
