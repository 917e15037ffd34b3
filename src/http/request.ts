import type { FileHead } from "./file-head.js";

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
  /** Begins with "/", escaped already, below the path of the base URL. */
  readonly path: string;
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
