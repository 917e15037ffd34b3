import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Peer, PeerScript, Place } from "./promises.js";

/** Peers on the loopback address. */
export class Listeners {
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  async listen(script: PeerScript): Promise<Place> {
    const server = createServer((socket) => this.#serve(socket, script));
    this.#servers.push(server);
    return { name: "127.0.0.1", port: await bind(server), secure: false };
  }

  /** A port that was free a moment ago. */
  async nowhere(): Promise<Place> {
    const server = createServer();
    const port = await bind(server);
    server.close();
    await once(server, "close");
    return { name: "127.0.0.1", port, secure: false };
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #serve(socket: Socket, script: PeerScript): void {
    this.#sockets.add(socket);
    const peer: Peer = {
      write: (bytes) => void socket.write(Buffer.from(bytes)),
      end: () => void socket.end(),
      reset: () => void socket.resetAndDestroy(),
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

async function bind(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
