// Fetches an image: GET /api/v1/{token}/firmware?title=&version=&size=&chunk=
//
// The platform knows no offset, only `size` bytes from `size * chunk` on. From offset N go on `size=N&chunk=1` (as many bytes
// again), or a power of two that divides N. Past the end it answers 200 without a byte; its cache losing the file is a 500 without a body; another
// assignment meanwhile is a 400 or a 404.
import type { Outcome } from "../../net/outcome.js";
import type { Sink } from "../../net/request.js";
import { firmwarePath } from "../../wire/paths.js";
import type { Lane } from "../lane.js";
import type { Link } from "../link.js";
import type { Failure } from "./failures.js";
import type { ImageWriter } from "./image-writer.js";

const PART_DEADLINE_MS = 60_000;
const STREAM_DEADLINE_MS = 3_600_000;
/** A stream that is silent for this long is given up. */
const SILENCE_MS = 60_000;
/** Answers in a row, from a platform that can be reached, that brought no byte. */
const VAIN_ATTEMPTS = 10;

/** `done`: the writer took all bytes. `stopped`: the agent was stopped, or `wanted()` was false. */
export type Fetched =
  | { readonly kind: "done" }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly failure: Failure; readonly status: number | undefined };

/** Which bytes to ask for at `offset` of an image of `end` bytes. No `size`: all of it. */
export function nextPart(
  offset: number,
  end: number,
  whole: boolean,
  chunkBytes: number,
): { size: number; chunk: number; bytes: number } | undefined {
  if (whole && offset === 0) return undefined;
  let size = chunkBytes;
  if (whole) size = offset;
  // The lowest bit that is set: the next offset has more zeros at its end, up to those of chunkBytes.
  else if (offset % chunkBytes !== 0) size = offset & -offset;
  return { size, chunk: offset / size, bytes: Math.min(size, end - offset) };
}

/** Where the image goes: no answer may bring a byte more than was asked for. */
export class ImageSink implements Sink {
  readonly writer: ImageWriter;
  /** False once it is another image that is assigned. */
  readonly wanted: () => boolean;
  readonly #progress: () => void;
  #left = 0;
  failure: Failure | undefined;

  constructor(writer: ImageWriter, wanted: () => boolean, progress: () => void) {
    this.writer = writer;
    this.wanted = wanted;
    this.#progress = progress;
  }

  expect(bytes: number): void {
    this.#left = bytes;
  }

  begin(length: number | undefined): boolean {
    // An empty answer is judged when it is over: there is nothing to give up.
    if (length === undefined || length === 0 || length === this.#left) return true;
    this.failure = "length";
    return false;
  }

  fragment(bytes: Uint8Array): boolean {
    if (!this.wanted()) return false;
    this.#left -= bytes.length;
    if (this.#left < 0) this.failure = "length";
    else if (!this.writer.take(bytes)) this.failure = "slot";
    if (this.failure) return false;
    this.#progress();
    return true;
  }
}

export class Download {
  readonly #link: Link;
  readonly #lane: Lane;
  readonly #chunkBytes: number;
  readonly #package: { readonly title: string; readonly version: string };
  #vain = 0;
  #stopWatch: (() => void) | undefined;

  constructor(
    link: Link,
    lane: Lane,
    wanted: { readonly title: string; readonly version: string },
    chunkBytes: number,
  ) {
    this.#link = link;
    this.#lane = lane;
    this.#chunkBytes = chunkBytes;
    this.#package = wanted;
  }

  /** Fetches what the writer lacks, however often the connection drops. Nothing that was taken is fetched again. */
  async fetch(sink: ImageSink): Promise<Fetched> {
    const { writer } = sink;
    this.#vain = 0;
    // Between attempts there is a wait of their own: the back-off of the last one is over.
    this.#lane.clear();
    while (writer.offset < writer.size) {
      await this.#lane.ready();
      if (!this.#link.running || !sink.wanted()) return { kind: "stopped" };
      const before = writer.offset;
      const ended = this.#ended(await this.#part(sink), sink, writer.offset - before);
      if (ended) return ended;
      if (writer.offset === writer.end && writer.kept > 0 && !(await writer.recall()))
        return { kind: "failed", failure: "slot", status: undefined };
    }
    return { kind: "done" };
  }

  #part(sink: ImageSink): Promise<Outcome> {
    const { writer } = sink;
    const { offset, end } = writer;
    // Only with three connections does the image have one of its own; elsewhere the others get their turn between two parts.
    const complete = end === writer.size;
    const whole = this.#link.mode === 3 && complete;
    const part = nextPart(offset, end, whole, complete ? this.#chunkBytes : Math.min(this.#chunkBytes, end));
    sink.expect(part ? part.bytes : end);
    const path = firmwarePath(this.#package.title, this.#package.version, part);
    const deadlineMs = whole ? STREAM_DEADLINE_MS : PART_DEADLINE_MS;
    if (whole) this.#watch(writer);
    return this.#lane.send({ method: "GET", path, deadlineMs, limit: 0, repeatable: true, sink });
  }

  /** Gives the stream up if it brings nothing for a while. */
  #watch(writer: ImageWriter): void {
    const seen = writer.offset;
    this.#stopWatch = this.#link.host.clock.timer(SILENCE_MS, () => {
      if (writer.offset === seen) this.#lane.hangUp();
      else this.#watch(writer);
    });
  }

  /** One answer is over, which brought `got` bytes. Undefined to go on. */
  #ended(outcome: Outcome, sink: ImageSink, got: number): Fetched | undefined {
    this.#stopWatch?.();
    if (!this.#link.running || !sink.wanted()) return { kind: "stopped" };
    if (sink.failure) return { kind: "failed", failure: sink.failure, status: undefined };
    if (got > 0) {
      this.#vain = 0;
      this.#lane.clear();
      return undefined;
    }
    switch (outcome.kind) {
      case "done":
        return { kind: "failed", failure: "short", status: undefined };
      case "refused":
        return this.#refused(outcome.status);
      case "busy":
        return this.#again("unanswered", outcome.status, outcome.retryAfterMs);
      case "lost":
        return this.#again("unanswered", undefined, undefined);
    }
  }

  #refused(status: number): Fetched | undefined {
    // The token is not known any more: that is not the image's fault, and others see to it.
    if (status === 401 || status === 403) return this.#again("refused", status, undefined);
    if (status === 400) return { kind: "failed", failure: "changed", status };
    if (status === 404) return { kind: "failed", failure: "missing", status };
    return { kind: "failed", failure: "refused", status };
  }

  #again(
    failure: Failure,
    status: number | undefined,
    retryAfterMs: number | undefined,
  ): Fetched | undefined {
    this.#lane.hold(retryAfterMs);
    if (this.#link.online) this.#vain++;
    return this.#vain >= VAIN_ATTEMPTS ? { kind: "failed", failure, status } : undefined;
  }
}
