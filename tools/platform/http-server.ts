import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { answerBytes, headOf } from "./device/answer-bytes.js";
import { type DeviceResponse, lateError, VARY, type Wire } from "./device/messages.js";
import type { DeviceApi } from "./device-api.js";
import { reset } from "./reset.js";

interface HttpServerOptions {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** Closes a connection after this many milliseconds without a request or a byte of one. */
  readonly idleMs: number;
  readonly api: DeviceApi;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Serves all requests outside the device API. */
  readonly listener: RequestListener;
}

/** A server closes a connection after this many requests. */
const MOST_REQUESTS = 100;
const LARGEST_HEAD = 8_192;
const LARGEST_BODY = 16_777_216;
/** A refused body is read for so long, so that its sender sees the answer. */
const SWALLOW_MS = 2_000;
/** Between the last byte and a reset, which could overtake it. */
const RESET_MS = 20;

/** HTTP server with a ThingsBoard server's connection rules. `drain`: no keep-alive. */
export class HttpServer {
  readonly server: Server;
  readonly #options: HttpServerOptions;
  readonly #requests = new WeakMap<Socket, number>();
  #draining = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { tlsCert, tlsKey, idleMs, api, listener } = options;
    const limits: ServerOptions = {
      maxHeaderSize: LARGEST_HEAD,
      keepAliveTimeout: idleMs,
      headersTimeout: idleMs,
      requestTimeout: idleMs,
      connectionsCheckingInterval: Math.min(1_000, idleMs / 4),
    };
    const onRequest: RequestListener = (request, reply) => {
      if (api.serves(request.url ?? "")) this.#serve(request, reply);
      else {
        const { keepAlive, asksToKeep } = this.#count(request, reply);
        if (!keepAlive) reply.setHeader("Connection", "close");
        else if (!asksToKeep) reply.removeHeader("Connection");
        listener(request, reply);
      }
    };
    const isTls = tlsCert !== undefined && tlsKey !== undefined;
    this.server = isTls
      ? createTlsServer({ ...limits, cert: tlsCert, key: tlsKey }, onRequest)
      : createServer(limits, onRequest);
    this.server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) =>
      this.#failed(error, socket),
    );
  }

  drain(): void {
    this.#draining = true;
  }

  /** Whether the connection stays after this request, and whether the client asked to be told. */
  #count(request: IncomingMessage, reply: ServerResponse): { keepAlive: boolean; asksToKeep: boolean } {
    const { socket, headers } = request;
    const count = (this.#requests.get(socket) ?? 0) + 1;
    this.#requests.set(socket, count);
    const keepAlive = reply.shouldKeepAlive && count < MOST_REQUESTS && !this.#draining;
    return { keepAlive, asksToKeep: keepAlive && /\bkeep-alive\b/i.test(headers.connection ?? "") };
  }

  #serve(request: IncomingMessage, reply: ServerResponse): void {
    const { method = "GET", url = "", socket } = request;
    const headers = headersOf(request);
    const send = (answer: DeviceResponse, early = false): void => {
      if (reply.destroyed || socket.destroyed) return;
      if (answer.wire) sendWire(socket, answer.wire);
      else this.#write(request, reply, answer, early);
    };
    const { api } = this.#options;
    const refused = api.refuse({ method, url, headers });
    if (refused) {
      send(refused, true);
      return;
    }
    const pieces: Uint8Array[] = [];
    let length = 0;
    request.on("data", (piece: Uint8Array) => {
      length += piece.length;
      if (length > LARGEST_BODY) socket.destroy();
      else pieces.push(piece);
    });
    request.on("end", () => {
      let done = false;
      const abandon = api.handle({ method, url, headers, body: Buffer.concat(pieces) }, (answer) => {
        done = true;
        send(answer);
      });
      reply.on("close", () => {
        if (!done) abandon();
      });
    });
  }

  #write(request: IncomingMessage, reply: ServerResponse, answer: DeviceResponse, early: boolean): void {
    const asked = { method: request.method ?? "GET", ...this.#count(request, reply) };
    const { headers, closes } = headOf(answer, this.#options.now(), asked);
    reply.shouldKeepAlive = !closes;
    reply.sendDate = false;
    reply.removeHeader("Connection");
    reply.writeHead(answer.status, answer.reason ?? "", headers.flat());
    if (asked.method !== "HEAD") reply.write(answer.body);
    if (!early || request.complete) {
      reply.end();
      return;
    }
    const timer = setTimeout(() => reply.end(), SWALLOW_MS).unref();
    request.resume().on("close", () => {
      clearTimeout(timer);
      reply.end();
    });
  }

  /** Half a head ends in silence, half a body with 408, and bytes that are not HTTP with 400. */
  #failed({ code }: NodeJS.ErrnoException, socket: Socket): void {
    const isTimeout = code === "ERR_HTTP_REQUEST_TIMEOUT";
    const isUnderway = (socket as { _httpMessage?: unknown })._httpMessage != null;
    if (!socket.writable || (isTimeout && !isUnderway)) {
      socket.destroy();
      return;
    }
    const now = this.#options.now();
    const answer = isTimeout
      ? lateError(408, "SocketTimeoutException: ", now, { Vary: VARY })
      : lateError(400, "Bad Request", now);
    socket.end(answerBytes({ ...answer, chunked: false }, now).whole);
  }
}

/** Header names in lower case, repeated ones joined. */
function headersOf({ headersDistinct }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(", ")]),
  );
}

/** A fault: other bytes than the answer, then the end of the connection. */
function sendWire(socket: Socket, { bytes, end }: Wire): void {
  const finish = (): void => {
    if (end === "close") socket.end();
    else if ("encrypted" in socket) socket.destroy();
    else reset(socket);
  };
  if (bytes.length === 0) finish();
  else socket.write(bytes, () => setTimeout(finish, end === "reset" ? RESET_MS : 0).unref());
}
