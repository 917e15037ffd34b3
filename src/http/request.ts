import type { Host } from "../port.js";
import type { Secret } from "../wire/secret.js";
import { isMadeOf, spanOf } from "../wire/text/characters.js";
import type { Purpose } from "./governor.js";
import type { FileHead } from "./head.js";
import type { Target } from "./target.js";

/** Takes the body of an answer with status 200, piece by piece. Returning false, or throwing, gives the answer up: the outcome is `lost`. */
export interface Sink {
  /**
   * For files: once, with the head of the answer, before anything else and whatever its status; good until this returns. With it the body of a 206 comes
   * here, too.
   */
  head?(head: FileHead): boolean;
  /** Once, before the first fragment. `length` in bytes, undefined if the peer does not say. */
  begin(length: number | undefined): boolean;
  /** Zero or more times. The bytes are the connection's own: good until this returns. */
  fragment(bytes: Uint8Array): boolean;
}

/** One request of the device API, and what may be done for it. */
export interface Request {
  readonly method: "GET" | "POST";
  /** Whose budget it belongs to; default: the application's. */
  readonly purpose?: Purpose;
  /** Begins with "/" (or follows `credential`), escaped already, below the path of the base URL. */
  readonly path: string;
  /** Comes before `path`. A connection that it is not bound to refuses the request. */
  readonly credential?: Secret;
  /** Headers more, each `Name: value` in printable ASCII; they may hold a secret. Anything else, and nothing is sent. */
  readonly headers?: readonly string[];
  /** JSON. A POST without one sends `Content-Length: 0`. */
  readonly body?: Uint8Array;
  /** So many bytes before the body, in the same buffer, may be overwritten: the head goes there, and nothing is copied. */
  readonly headRoom?: number;
  /** The head of the answer is likely to be that of the one before: it is noted, which takes memory. With `headRoom` it always is. */
  readonly alike?: boolean;
  /** ms for the whole exchange (connecting, TLS, sending, answer), from the moment its turn comes. */
  readonly deadlineMs: number;
  /** The deadline runs from now on: if its turn does not come before, it is not sent and ends as `lost` with NO_TURN. */
  readonly hurried?: boolean;
  /** Bytes of the body that are kept at most. */
  readonly limit: number;
  /** May be sent once more if a connection that was kept turns out dead before the first byte of the answer. */
  readonly repeatable: boolean;
  /** Goes out on a connection that was idle for long, although it is not repeatable: the sender hears in another way that it did not arrive. */
  readonly onIdle?: boolean;
  /** Called when the last byte was handed to the socket, once each time it is sent; not at all if the answer came before that. */
  readonly sent?: () => void;
  /** Gets the body of a 200 in place of the outcome. */
  readonly sink?: Sink;
}

// The request as it leaves: HTTP/1.1, head and body in one piece, so that a socket that takes it sends one packet (and one TLS record).

const NONE: readonly string[] = [];

/** The bytes of a request; undefined if its path is not escaped, or one of its headers is none. */
export const writeRequest = (
  host: Pick<Host, "encode">,
  target: Target,
  request: Request,
): Uint8Array | undefined => {
  const { credential, path } = request;
  const start = credential?.reveal() ?? "";
  if (!(start || path).startsWith("/") || !isPath(start) || !isPath(path)) return undefined;
  if (!(request.headers ?? NONE).every(isHeader)) return undefined;
  const head = host.encode(headText(target, start, request));
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
const isPath = (path: string): boolean => !path.includes(" ") && !path.includes("\r") && !path.includes("\n");

/** Nothing that could begin another header. */
const isHeader = (line: string): boolean => {
  const end = spanOf(line, "azAZ--");
  return end > 0 && line.slice(end, end + 2) === ": " && isMadeOf(line.slice(end + 2), " ~");
};

/** In pieces that are joined once: each `+` would copy what is there so far, and what is copied is garbage. */
const headText = (target: Target, start: string, { method, path, headers, body }: Request): string => {
  const pieces = [method, " ", target.prefix, start, path, " HTTP/1.1\r\nHost: ", target.authority, AGENT];
  for (const line of headers ?? NONE) pieces.push(line, "\r\n");
  if (body && body.length > 0) pieces.push("Content-Type: application/json\r\n");
  if (body || method === "POST") pieces.push("Content-Length: ", String(body?.length ?? 0), "\r\n");
  pieces.push("\r\n");
  return pieces.join("");
};

/** A device asks for no type: without Accept a platform answers as with all, and no type of an answer is looked at (docs/reference/protocol.md). */
const AGENT = "\r\nUser-Agent: mote\r\n";
