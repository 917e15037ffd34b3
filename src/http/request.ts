import type { Host } from "../port.js";
import type { Secret } from "../wire/secret.js";
import { characters, isMadeOf, spanOf } from "../wire/text/characters.js";
import type { FileHead } from "./file-head.js";
import type { Target } from "./target.js";

const HEADER_NAME = characters("azAZ--");
const PRINTABLE = characters(" ~");

/**
 * Receives the body of a 200 in pieces. Returning false or throwing aborts the answer as `lost`.
 */
export interface Sink {
  /**
   * For files: called once with the head, first and for any status; valid until it returns. With
   * this method, the body of a 206 is streamed too.
   */
  head?(head: FileHead): boolean;
  /** Called once before the first fragment. `length`: in bytes; undefined if unknown. */
  announced(length: number | undefined): boolean;
  /** Called for each piece of the body. The bytes are valid until it returns. */
  fragment(bytes: Uint8Array): boolean;
}

/** One request of the device API. */
export interface Request {
  readonly method: "GET" | "POST";
  /** Begins with "/" (or follows `credential`), escaped already, below the path of the base URL. */
  readonly path: string;
  /** Comes before `path`. A connection that it is not bound to refuses the request. */
  readonly credential?: Secret;
  /**
   * Additional headers, each `Name: value` in printable ASCII; may be secret. With an invalid one,
   * nothing is sent.
   */
  readonly headers?: readonly string[];
  /** JSON. A POST without a body sends `Content-Length: 0`. */
  readonly body?: Uint8Array;
  /**
   * Number of bytes before the body, in the same buffer, that may be overwritten: the head goes
   * there without a copy.
   */
  readonly headRoom?: number;
  /**
   * Time limit in ms for connecting, TLS, sending and the answer, counted from the request's turn.
   */
  readonly deadlineMs: number;
  /** Counts the deadline from now on. A request not sent by then ends as `lost` with NO_TURN. */
  readonly deadlineIncludesQueue?: boolean;
  /** Asked when its turn comes; if false, it ends as `lost` with NO_TURN. Default: true. */
  readonly isWanted?: () => boolean;
  /** Maximum number of stored bytes of the response body. */
  readonly limit: number;
  /** The answer only confirms, so its body matters only if it says otherwise (receipt.ts). */
  readonly isReceipt?: boolean;
  /**
   * May be sent again if a reused connection fails before the first byte of the answer
   * (connection.ts).
   */
  readonly repeatable: boolean;
  /** The platform holds its answer back until there is news. */
  readonly isPoll?: boolean;
  /** Called each time the last byte was handed to the socket; not if the answer came earlier. */
  readonly sent?: () => void;
  /** Receives the body of a 200 instead of the outcome. */
  readonly sink?: Sink;
}

// Writes HTTP/1.1 requests, head and body in one piece, so that they can leave in one packet and
// TLS record.

const NONE: readonly string[] = [];

/** The bytes of a request; undefined if its path is not escaped or a header is invalid. */
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

/**
 * Checks only for characters that end the request line. Paths are escaped where they are built, and
 * a full check would take longer than writing them.
 */
const isPath = (path: string): boolean => !path.includes(" ") && !path.includes("\r") && !path.includes("\n");

/** True if the line cannot start another header. */
const isHeader = (line: string): boolean => {
  const end = spanOf(line, HEADER_NAME);
  return end > 0 && line.slice(end, end + 2) === ": " && isMadeOf(line.slice(end + 2), PRINTABLE);
};

/** Joins the pieces once: repeated `+` would copy the text each time and create garbage. */
const headText = (target: Target, start: string, { method, path, headers, body }: Request): string => {
  const pieces = [method, " ", target.prefix, start, path, " HTTP/1.1\r\nHost: ", target.authority, AGENT];
  for (const line of headers ?? NONE) pieces.push(line, "\r\n");
  if (body && body.length > 0) pieces.push("Content-Type: application/json\r\n");
  if (body || method === "POST") pieces.push("Content-Length: ", String(body?.length ?? 0), "\r\n");
  pieces.push("\r\n");
  return pieces.join("");
};

/** No Accept header: answers are read regardless of type (docs/reference/protocol.md). */
const AGENT = "\r\nUser-Agent: mote\r\n";
