// Where the bytes of an image come from, and what takes them.

import type { Outcome } from "../../../http/outcome.js";
import type { Sink } from "../../../http/request.js";
import type { Failure } from "../failures.js";
import type { ImageWriter } from "./image-writer.js";

export const STREAM_DEADLINE_MS = 3_600_000;

export interface Failed {
  readonly failure: Failure;
  readonly detail: string;
}

export interface Source {
  /** Asks for what the writer lacks, as much of it as fits, and hands it to `sink`. Calls `done` once, at the end. */
  part(sink: ImageSink, done: (outcome: Outcome) => void): void;
  /** What an outcome means that brought not a byte; undefined: nothing for the image, it is asked for again later. */
  failed(outcome: Outcome): Failed | undefined;
  /** What it is when that goes on. */
  readonly unanswered: Failure;
  /** What was taken so far is no beginning of what there is now. */
  readonly restarted: boolean;
  /** Gives up what is under way, and the connection if it is its own. */
  hangUp(): void;
}

/** Where the image goes: no answer may bring a byte more than was asked for. */
export class ImageSink implements Sink {
  readonly writer: ImageWriter;
  /** False once it is another image that is assigned. */
  readonly wanted: () => boolean;
  private readonly _progress: () => void;
  private _left = 0;
  /** What came is wrong, or can't be kept. */
  failure: Failure | undefined;

  constructor(writer: ImageWriter, wanted: () => boolean, progress: () => void) {
    this.writer = writer;
    this.wanted = wanted;
    this._progress = progress;
  }

  expect(bytes: number): void {
    this._left = bytes;
  }

  begin(length: number | undefined): boolean {
    // An empty answer is judged when it is over: there is nothing to give up.
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
