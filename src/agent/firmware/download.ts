// Fetches an image from wherever it is, however often the connection drops.
import type { Outcome } from "../../net/outcome.js";
import type { Lane } from "../lane.js";
import type { Link } from "../link.js";
import type { Signal } from "../signal.js";
import type { ImageWriter } from "./image-writer.js";
import type { Failed, ImageSink, Source } from "./source.js";

/** Answers in a row, from a platform that can be reached, that brought no byte. */
const VAIN_ATTEMPTS = 10;
/** What is silent for this long is given up. */
const SILENCE_MS = 60_000;

/** `done`: the writer took all bytes. `stopped`: the agent was stopped, or `wanted()` was false. `anew`: what was taken is of no use. */
export type Fetched = { readonly kind: "done" | "stopped" | "anew" } | ({ readonly kind: "failed" } & Failed);

/** One image on its way, part by part. While a part comes nothing of it is suspended: the signal is raised at its end. */
export class Download {
  readonly #link: Link;
  readonly #lane: Lane;
  readonly #source: Source;
  readonly #sink: ImageSink;
  readonly #signal: Signal;
  #vain = 0;
  /** How far the image had come before the part that comes now; -1 if none does. */
  #from = -1;
  #outcome: Outcome | undefined;
  #stopWatch: (() => void) | undefined;

  constructor(link: Link, lane: Lane, signal: Signal, source: Source, sink: ImageSink) {
    this.#link = link;
    this.#lane = lane;
    this.#signal = signal;
    this.#source = source;
    this.#sink = sink;
    // Between attempts there is a wait of their own: the back-off of the last one is over.
    lane.clear();
  }

  /** A part is on its way. */
  get underWay(): boolean {
    return this.#from >= 0 && !this.#outcome;
  }

  /** Asks for the next part that the writer lacks. Nothing that was taken is fetched again. Undefined: it is on its way; else all is over. */
  async next(): Promise<Fetched | undefined> {
    const sink = this.#sink;
    const { writer } = sink;
    const ended = this.#outcome && this.#ended(this.#outcome, sink, writer.offset - this.#from);
    this.#outcome = undefined;
    this.#from = -1;
    if (ended) return ended;
    if (writer.offset === writer.end && writer.kept > 0 && !(await writer.recall()))
      return { kind: "failed", failure: "slot", detail: "" };
    if (writer.offset >= writer.size) return { kind: "done" };
    await this.#lane.ready();
    if (!this.#link.running || !sink.wanted()) return { kind: "stopped" };
    this.#from = writer.offset;
    this.#watch(writer);
    this.#source.part(sink, (outcome) => {
      // Here, not at the next turn: there is none after a stop, nor for another image.
      this.#stopWatch?.();
      this.#outcome = outcome;
      this.#signal.notify();
    });
    return undefined;
  }

  /** Gives it up if it brings nothing for a while. */
  #watch(writer: ImageWriter): void {
    const seen = writer.offset;
    this.#stopWatch = this.#link.host.clock.timer(SILENCE_MS, () => {
      if (writer.offset === seen) this.#source.hangUp();
      else this.#watch(writer);
    });
  }

  /** One answer is over, which brought `got` bytes. Undefined to go on. */
  #ended(outcome: Outcome, sink: ImageSink, got: number): Fetched | undefined {
    if (!this.#link.running || !sink.wanted()) return { kind: "stopped" };
    if (sink.failure) return { kind: "failed", failure: sink.failure, detail: "" };
    if (this.#source.anew) return { kind: "anew" };
    if (got > 0) {
      this.#vain = 0;
      this.#lane.clear();
      return undefined;
    }
    const failed = this.#source.failed(outcome);
    if (failed) return { kind: "failed", ...failed };
    this.#lane.hold(outcome.kind === "busy" ? outcome.retryAfterMs : undefined);
    if (this.#link.online) this.#vain++;
    if (this.#vain < VAIN_ATTEMPTS) return undefined;
    return { kind: "failed", failure: this.#source.unanswered, detail: statusOf(outcome) };
  }
}

/** For people; empty if there was no answer. */
export function statusOf(outcome: Outcome): string {
  return outcome.kind === "lost" ? "" : String(outcome.status);
}
