// Fetches an image from wherever it is, however often the connection drops.
import type { Outcome } from "../../../http/outcome.js";
import type { PlatformSession, RequestChannel } from "../../../platform/index.js";
import type { Signal } from "../../../platform/signal.js";
import type { ImageWriter } from "./image-writer.js";
import type { Failed, ImageSink, Source } from "./source.js";

/** Answers in a row, from a platform that can be reached, that brought no byte. */
const VAIN_ATTEMPTS = 10;
/** What is silent for this long is given up. */
const SILENCE_MS = 60_000;

/** `done`: the writer took all bytes. `stopped`: the agent was stopped, or `wanted()` was false. `restarted`: what was taken is of no use. */
export type Fetched =
  | { readonly kind: "done" | "stopped" | "restarted" }
  | ({ readonly kind: "failed" } & Failed);

/** One image on its way, part by part. While a part comes nothing of it is suspended: the signal is raised at its end. */
export class Download {
  private readonly _session: PlatformSession;
  private readonly _channel: RequestChannel;
  private readonly _source: Source;
  private readonly _sink: ImageSink;
  private readonly _signal: Signal;
  private _vain = 0;
  /** How far the image had come before the part that comes now; -1 if none does. */
  private _from = -1;
  private _outcome: Outcome | undefined;
  private _stopWatch: (() => void) | undefined;

  constructor(
    session: PlatformSession,
    channel: RequestChannel,
    signal: Signal,
    source: Source,
    sink: ImageSink,
  ) {
    this._session = session;
    this._channel = channel;
    this._signal = signal;
    this._source = source;
    this._sink = sink;
    // Between attempts there is a wait of their own: the back-off of the last one is over.
    channel.clear();
  }

  /** A part is on its way. */
  get underWay(): boolean {
    return this._from >= 0 && !this._outcome;
  }

  /** Asks for the next part that the writer lacks. Nothing that was taken is fetched again. Undefined: it is on its way; else all is over. */
  async next(): Promise<Fetched | undefined> {
    const sink = this._sink;
    const { writer } = sink;
    const ended = this._outcome && this._ended(this._outcome, sink, writer.offset - this._from);
    this._outcome = undefined;
    this._from = -1;
    if (ended) return ended;
    if (writer.offset === writer.end && writer.resumable > 0 && !(await writer.recall()))
      return { kind: "failed", failure: "slot", detail: "" };
    if (writer.offset >= writer.size) return { kind: "done" };
    await this._channel.ready();
    if (!this._session.running || !sink.wanted()) return { kind: "stopped" };
    this._from = writer.offset;
    this._watch(writer);
    this._source.part(sink, (outcome) => {
      // Here, not at the next turn: there is none after a stop, nor for another image.
      this._stopWatch?.();
      this._outcome = outcome;
      this._signal.notify();
    });
    return undefined;
  }

  /** Gives it up if it brings nothing for a while. */
  private _watch(writer: ImageWriter): void {
    const seen = writer.offset;
    this._stopWatch = this._session.host.clock.timer(SILENCE_MS, () => {
      if (writer.offset === seen) this._source.hangUp();
      else this._watch(writer);
    });
  }

  /** One answer is over, which brought `got` bytes. Undefined to go on. */
  private _ended(outcome: Outcome, sink: ImageSink, got: number): Fetched | undefined {
    if (!this._session.running || !sink.wanted()) return { kind: "stopped" };
    if (sink.failure) return { kind: "failed", failure: sink.failure, detail: "" };
    if (this._source.restarted) return { kind: "restarted" };
    if (got > 0) {
      this._vain = 0;
      this._channel.clear();
      return undefined;
    }
    const failed = this._source.failed(outcome);
    if (failed) return { kind: "failed", ...failed };
    this._channel.hold(outcome.kind === "busy" ? outcome.retryAfterMs : undefined);
    if (this._session.online) this._vain++;
    if (this._vain < VAIN_ATTEMPTS) return undefined;
    return { kind: "failed", failure: this._source.unanswered, detail: statusOf(outcome) };
  }
}

/** For people; empty if there was no answer. */
export const statusOf = (outcome: Outcome): string => {
  return outcome.kind === "lost" ? "" : String(outcome.status);
};
