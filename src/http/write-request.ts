// The request as it leaves: HTTP/1.1, head and body in one piece, so that a socket that takes it sends one packet (and one TLS record).

import type { Host } from "../port.js";
import { isMadeOf, spanOf } from "../wire/text/characters.js";
import type { Request } from "./request.js";
import type { Target } from "./target.js";

const NONE: readonly string[] = [];

/** The bytes of a request; undefined if its path is not escaped, or one of its headers is none. */
export const writeRequest = (
  host: Pick<Host, "encode">,
  target: Target,
  request: Request,
): Uint8Array | undefined => {
  if (!isPath(request.path) || !(request.headers ?? NONE).every(isHeader)) return undefined;
  const head = host.encode(headText(target, request));
  const { body, headRoom = 0 } = request;
  if (!body || body.length === 0) return head;
  if (head.length <= headRoom) {
    const from = body.byteOffset - head.length;
    const room = new Uint8Array(body.buffer, from, head.length + body.length);
    room.set(head);
    return room;
  }
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
};

/** Nothing that could end the request line. All else was escaped or judged where the path was made; to read it again takes longer than to write it. */
const isPath = (path: string): boolean =>
  path.startsWith("/") && !path.includes(" ") && !path.includes("\r") && !path.includes("\n");

/** Nothing that could begin another header. */
const isHeader = (line: string): boolean => {
  const end = spanOf(line, "azAZ--");
  return end > 0 && line.slice(end, end + 2) === ": " && isMadeOf(line.slice(end + 2), " ~");
};

/** In pieces that are joined once: each `+` would copy what is there so far, and what is copied is garbage. */
const headText = (target: Target, { method, path, headers, body }: Request): string => {
  const pieces = [method, " ", target.prefix, path, " HTTP/1.1\r\nHost: ", target.authority, AGENT];
  for (const line of headers ?? NONE) pieces.push(line, "\r\n");
  if (body && body.length > 0) pieces.push("Content-Type: application/json\r\n");
  if (body || method === "POST") pieces.push("Content-Length: ", String(body?.length ?? 0), "\r\n");
  pieces.push("\r\n");
  return pieces.join("");
};

/** A device asks for no type: without Accept a platform answers as with all, and no type of an answer is looked at (docs/protocol.md). */
const AGENT = "\r\nUser-Agent: mote\r\n";
