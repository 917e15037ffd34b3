import type { IncomingMessage, ServerResponse } from "node:http";
import type { DeviceRequest, DeviceResponse, Wire } from "./device/messages.js";
import type { DeviceApi } from "./device-api.js";

/** A body without a length is not limited by the platform; here it ends at this. */
const LARGEST = 64 * 1024 * 1024;
/** Of all bodies that are on their way together. */
const LARGEST_TOGETHER = 256 * 1024 * 1024;
/** Of a body that nobody wants, this much is read, so that the answer arrives before the connection is cut. */
const SWALLOWED = 2 * 1024 * 1024;
const SWALLOW_MS = 2_000;
/** Between the last byte and a reset, which may overtake it. */
const RESET_MS = 20;

/** Bytes of a body that leave together with the head. */
const JOINED = 16_384;
const NOTHING = new Uint8Array(0);

let together = 0;

/** Serves one request of the device API from Node's HTTP server. */
export function serveDevice(api: DeviceApi, request: IncomingMessage, reply: ServerResponse): void {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const head = { method: request.method ?? "", url: request.url ?? "", headers };
  request.on("error", () => {});
  reply.on("error", () => {});
  if (api.refuse(head)) {
    api.handle({ ...head, body: new Uint8Array(0) }, (answer) => sendUnread(request, reply, answer));
    return;
  }
  collect(request, (body) => {
    if (body) handle(api, { ...head, body }, reply);
    else request.destroy();
  });
}

function handle(api: DeviceApi, request: DeviceRequest, reply: ServerResponse): void {
  const abandon = api.handle(request, (answer) => {
    if (answer.wire) {
      sendWire(reply, answer.wire);
      return;
    }
    writeHead(reply, answer);
    endWith(reply, request.method === "HEAD" ? NOTHING : answer.body);
  });
  reply.on("close", () => {
    if (!reply.writableFinished) abandon();
  });
}

/** In one write with the head, if it is not large: Node joins them only where both are text. */
function endWith(reply: ServerResponse, body: Uint8Array): void {
  if (body.length === 0) reply.end();
  else if (body.length > JOINED) reply.end(body);
  else reply.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1"), "latin1");
}

/** Calls back with the whole body; with nothing if it is too large. If the device hangs up before, there is no call. */
function collect(request: IncomingMessage, done: (body: Uint8Array | undefined) => void): void {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const release = (): void => {
    together -= size;
    size = 0;
    pieces = [];
  };
  request.on("data", (piece: Uint8Array) => {
    size += piece.length;
    together += piece.length;
    if (size > LARGEST || together > LARGEST_TOGETHER) done(undefined);
    else pieces.push(piece);
  });
  request.on("end", () => {
    const [only = NOTHING] = pieces;
    const body = pieces.length > 1 ? Buffer.concat(pieces) : only;
    release();
    done(body);
  });
  request.on("close", release);
}

/** The real server's status line has no reason; it says that it keeps a connection only to who asks for that. */
function writeHead(reply: ServerResponse, { status, reason, headers }: DeviceResponse): void {
  if (reply.headersSent || reply.destroyed) return;
  const asksToKeep = /\bkeep-alive\b/i.test(reply.req.headers.connection ?? "");
  if (reply.shouldKeepAlive && !asksToKeep && headers.Connection === undefined)
    reply.removeHeader("Connection");
  reply.writeHead(status, reason ?? "", headers);
}

/** Answers before the body has come, then reads what is on its way. */
function sendUnread(request: IncomingMessage, reply: ServerResponse, answer: DeviceResponse): void {
  if (answer.wire) {
    sendWire(reply, answer.wire);
    return;
  }
  writeHead(reply, answer);
  reply.write(request.method === "HEAD" ? "" : answer.body);
  const end = (): void => {
    clearTimeout(timer);
    reply.end();
  };
  const timer = setTimeout(end, SWALLOW_MS).unref();
  let left = SWALLOWED;
  request.on("data", (piece: Uint8Array) => {
    left -= piece.length;
    if (left < 0) end();
  });
  request.on("end", end);
  request.on("close", end);
}

/** A fault: other bytes than the answer, and the end of the connection. */
function sendWire(reply: ServerResponse, { bytes, end }: Wire): void {
  const { socket } = reply;
  if (!socket || socket.destroyed) return;
  const finish = (): void => {
    if (end === "close") socket.end();
    else if ("encrypted" in socket) socket.destroy();
    else if (!socket.destroyed) socket.resetAndDestroy();
  };
  const later = (): void => void setTimeout(finish, end === "reset" ? RESET_MS : 0).unref();
  if (bytes.length === 0) finish();
  else socket.write(bytes, later);
}
