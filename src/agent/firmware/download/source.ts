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
   * Requests bytes that the writer lacks and passes them to `sink`. Calls `done` once at the end.
   */
  part(sink: ImageSink, done: (outcome: Outcome) => void): void;
  /** Why an answer without bytes ends the update; undefined: request again later. */
  failed(outcome: Outcome): Failed | undefined;
  /** The failure after too many answers without bytes. */
  readonly unanswered: Failure;
  /** The file changed, so the bytes in the slot are useless. */
  readonly restarted: boolean;
  /** The file's ETag, if it has one. */
  readonly etag: string;
  /** Aborts the request, and closes the connection if this source owns it. */
  hangUp(): void;
}

/** Passes an answer to the writer, and rejects bytes beyond the requested ones. */
export class ImageSink implements Sink {
  readonly writer: ImageWriter;
  /** False once another image is assigned. */
  readonly wanted: () => boolean;
  private readonly _progress: () => void;
  private _left = 0;
  /** The bytes are wrong or cannot be written. */
  failure: Failure | undefined;

  constructor(writer: ImageWriter, wanted: () => boolean, progress: () => void) {
    this.writer = writer;
    this.wanted = wanted;
    this._progress = progress;
  }

  /** All requested bytes arrived. */
  get complete(): boolean {
    return this._left === 0;
  }

  expect(bytes: number): void {
    this._left = bytes;
  }

  begin(length: number | undefined): boolean {
    // An empty answer is judged at its end, because there is nothing to abort.
    if (length === undefined || length === 0 || length === this._left) return true;
    this.failure = "length";
    return false;
  }

  fragment(bytes: Uint8Array): boolean {
    if (!this.wanted()) return false;
    this._left -= bytes.length;
    if (this._left < 0) this.failure = "length";
    else if (!this.writer.take(bytes)) this.failure = "slot";
    if (this.failure) return false;
    this._progress();
    return true;
  }
}
