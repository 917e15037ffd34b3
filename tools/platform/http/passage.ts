import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { type Prepared, tokensOf } from "./prepared.js";
import type { Passed } from "./service.js";
import { KEEP_ALIVE } from "./writer.js";

/** A connection as Node's HTTP server sees it, for the operator's API: its requests are those that our own side hands over. */
export class Passage extends Duplex {
  readonly #socket: Socket;
  readonly encrypted: boolean;

  constructor(socket: Socket) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    this.encrypted = "encrypted" in socket;
    this.on("error", () => {});
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(piece: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#socket.destroyed) done();
    else this.#socket.write(piece, () => done());
  }

  override _final(done: () => void): void {
    done();
  }

  /** One request. */
  hand(request: Prepared): Passed {
    const chunked = request.body.kind === "chunked";
    const lines = Object.entries(request.headers)
      .filter(([name]) => name !== "connection" && name !== "expect")
      .map(([name, value]) => `${name}: ${value}\r\n`);
    if (!request.keepAlive) lines.push("connection: close\r\n");
    else if (request.asksToKeep) lines.push("connection: keep-alive\r\n");
    const host = request.headers.host === undefined ? "host: \r\n" : "";
    this.push(
      Buffer.from(`${request.method} ${request.url} HTTP/1.1\r\n${host}${lines.join("")}\r\n`, "latin1"),
    );
    return {
      body: (piece) => {
        if (chunked) this.push(Buffer.from(`${piece.length.toString(16)}\r\n`));
        if (!this.push(piece)) this.#socket.pause();
        if (chunked) this.push("\r\n");
      },
      end: () => {
        if (chunked) this.push("0\r\n\r\n");
      },
      abandon: () => this.destroy(),
    };
  }
}

/** Hands requests over to Node's HTTP server, which isn't listening itself. */
export class Passages {
  readonly #server: Server;
  readonly #open = new WeakMap<Socket, Passage>();
  readonly #done = new WeakMap<Duplex, (stays: boolean) => void>();

  constructor(server: Server) {
    this.#server = server;
    server.prependListener("request", (request: IncomingMessage, reply: ServerResponse) => {
      const asksToKeep = tokensOf(request.headers.connection).has("keep-alive");
      // It says that it keeps a connection only to who asks for that.
      if (asksToKeep) reply.setHeader("Keep-Alive", KEEP_ALIVE);
      else if (reply.shouldKeepAlive) reply.removeHeader("Connection");
      const passage = reply.socket as Duplex | null;
      reply.once("close", () => {
        const finished = passage && this.#done.get(passage);
        if (!passage || !finished) return;
        this.#done.delete(passage);
        // Node ends its side of a connection that doesn't stay.
        setImmediate(() => finished(reply.writableFinished && !passage.writableEnded && !passage.destroyed));
      });
    });
  }

  pass(socket: Socket, request: Prepared, done: (stays: boolean) => void): Passed {
    let passage = this.#open.get(socket);
    if (!passage || passage.destroyed || passage.writableEnded) {
      passage = new Passage(socket);
      this.#open.set(socket, passage);
      this.#server.emit("connection", passage);
      const made = passage;
      made.once("close", () => {
        const finished = this.#done.get(made);
        this.#done.delete(made);
        finished?.(false);
      });
      socket.once("close", () => made.destroy());
    }
    this.#done.set(passage, done);
    return passage.hand(request);
  }
}
