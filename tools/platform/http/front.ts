import type { Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { Connection } from "./connection.js";
import { Passages } from "./passage.js";
import type { Limits, Service } from "./service.js";

export interface FrontOptions {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly limits: Limits;
  /** Serves the operator's API; it must not listen itself. */
  readonly rest: HttpServer;
  readonly service: Omit<Service, "pass">;
}

/** Listens, and reads requests as the web server under the platform does: Node's own parser knows other rules. */
export class Front {
  readonly server: Server;
  readonly #connections = new Set<Connection>();

  constructor({ tlsCert, tlsKey, limits, rest, service }: FrontOptions) {
    const passages = new Passages(rest);
    const whole: Service = { ...service, pass: (...passed) => passages.pass(...passed) };
    const connected = (socket: Socket): void => {
      const connection: Connection = new Connection(socket, whole, limits, () =>
        this.#connections.delete(connection),
      );
      this.#connections.add(connection);
    };
    const isTls = tlsCert !== undefined && tlsKey !== undefined;
    this.server = isTls
      ? createTlsServer({ cert: tlsCert, key: tlsKey }, connected)
      : createServer({ allowHalfOpen: true }, connected);
    if (isTls) this.server.on("tlsClientError", (_error, socket: Socket) => socket.destroy());
  }

  /** Rejects with Node's error if it can't. */
  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen({ host, port }, () => {
        this.server.removeListener("error", reject);
        resolve();
      });
    });
  }

  /** Resolves when the port is free and what goes on has been answered. */
  drain(): Promise<void> {
    const closed = this.#stopListening();
    for (const connection of this.#connections) connection.drain();
    return closed;
  }

  /** As `drain`, but waits for nothing. */
  close(): Promise<void> {
    const closed = this.#stopListening();
    for (const connection of this.#connections) connection.destroy();
    return closed;
  }

  #stopListening(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
