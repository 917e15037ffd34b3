import type { Outcome } from "../../../http/outcome.js";
import type { Sink } from "../../../http/request.js";
import type { Failure } from "../failures.js";
import type { ImageWriter } from "./image-writer.js";

/** Deadline of a request that streams a whole image. A stalled one is aborted earlier. */
export const STREAM_DEADLINE_MS = 3_600_000;

export interface Failed {
  readonly failure: Failure;
  readonly detail: string;
}

/** Source of the bytes of an image: the platform or an external host. */
export interface Source {
  /**
   * Requests bytes that the writer lacks and passes them to `sink`; without a writer, the length of
   * the file. Calls `done` once at the end.
   */
  request(sink: ImageSink, done: (outcome: Outcome) => void): void;
  /** Why an answer without bytes ends the update; undefined: request again later. */
  refusal(outcome: Outcome): Failed | undefined;
  /** The file changed, so the bytes in the slot are useless. */
  readonly restarted: boolean;
  /** The file's ETag, if it has one. */
  readonly etag: string;
  /** Length of the file, where only its server knows it; 0: unknown. */
  readonly length: number;
  /** Aborts the request, and closes the connection if this source owns it. */
  hangUp(): void;
}

/** Passes the answer to one request to the writer, and rejects bytes beyond the requested ones. */
export class ImageSink implements Sink {
  readonly writer: ImageWriter | undefined;
  private readonly _isWanted: () => boolean;
  private readonly _progress: () => void;
  /** Bytes that the request brought. */
  received = 0;
  private _expected = 0;
  /** The bytes are wrong or cannot be written. */
  failure: Failure | undefined;

  /** `isWanted`: false once another image is assigned. */
  constructor(writer: ImageWriter | undefined, isWanted: () => boolean, progress: () => void) {
    this.writer = writer;
    this._isWanted = isWanted;
    this._progress = progress;
  }

  /** All requested bytes arrived. */
  get complete(): boolean {
    return this.received === this._expected;
  }

  /** A request begins, which brought nothing yet. */
  reset(): void {
    this.received = 0;
    this._expected = 0;
  }

  expect(bytes: number): void {
    this._expected = bytes;
  }

  announced(length: number | undefined): boolean {
    // An empty answer is judged at its end, because there is nothing to abort.
    if (length === undefined || length === 0 || length === this._expected) return true;
    this.failure = "length";
    return false;
  }

  fragment(bytes: Uint8Array): boolean {
    if (!this._isWanted()) return false;
    this.received += bytes.length;
    if (this.received > this._expected) this.failure = "length";
    else if (!this.writer?.append(bytes)) this.failure = "slot";
    if (this.failure) return false;
    this._progress();
    return true;
  }
}
