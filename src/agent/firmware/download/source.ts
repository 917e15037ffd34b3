import type { FileHead } from "../../../http/file-head.js";
import type { Outcome } from "../../../http/outcome.js";
import type { Sink } from "../../../http/request.js";
import type { Failed, Failure } from "../failures.js";

/** Deadline of a request that streams a whole image. A stalled one is aborted earlier. */
export const STREAM_DEADLINE_MS = 3_600_000;

/** Where the bytes of an image come from: the platform or an external host. */
export interface Source {
  /** Requests the bytes from `from` to `to`, or fewer, and passes them to the receiver. */
  request(from: number, to: number, receiver: Receiver): Promise<Outcome>;
  /** Why an answer without bytes ends the update; undefined: request again later. */
  refusal(outcome: Outcome): Failed | undefined;
  /** The file's ETag, if it has one. */
  etag: string;
  /** Aborts the request. Closes the connection, unless others share it. */
  hangUp(): void;
}

/** Receives the bytes of an answer. */
export interface Receiver extends Sink {
  /** The file is another one than before: it is downloaded from its start. */
  isChanged: boolean;
  /** The answer brings bytes up to `to`. */
  expect(to: number): void;
  /** Judges the head of a file's answer to a request that ends at `to`. */
  accepts(file: FileHead, to: number): boolean;
  /** The answer is of no use. */
  fail(failure: Failure, detail?: string): false;
}
