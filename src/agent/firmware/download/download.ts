import type { Outcome } from "../../../http/outcome.js";
import type { Sink } from "../../../http/request.js";
import { type PlatformSession, RequestChannel } from "../../../platform/index.js";
import type { Signal } from "../../../platform/signal.js";
import type { Host } from "../../../port.js";
import type { Image } from "../admission.js";
import type { AssignedUpdate } from "../assigned-update.js";
import type { Failure } from "../failures.js";
import type { FirmwareOptions } from "../options.js";
import type { Reporter } from "../reporter.js";
import type { UpdateJournal } from "../update-journal.js";
import { FromPlatform } from "./from-platform.js";
import { FromUrl } from "./from-url.js";
import { ImageWriter, slotHolds } from "./image-writer.js";
import { openCheck } from "./verification.js";

// Brings an assigned image into the slot, and reads it back.

const CHUNK_BYTES = 16_384;
/** A file that had to be started again so often is given up for now; so is a server that does not state its length. */
const MOST_TRIES = 10;

export class Transfer {
  private readonly _host: Host;
  private readonly _session: PlatformSession;
  private readonly _channel: RequestChannel;
  private readonly _options: FirmwareOptions;
  private readonly _assignment: AssignedUpdate;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  private readonly _signal: Signal;
  private _source: Source | undefined;
  private _writer: ImageWriter | undefined;
  private _download: Download | undefined;
  /** Times that the download of this image started again. */
  private _begun = 0;
  private _refusal: { failure: Failure; detail: string } | undefined;

  constructor(
    session: PlatformSession,
    signal: Signal,
    options: FirmwareOptions,
    assignment: AssignedUpdate,
    journal: UpdateJournal,
    reporter: Reporter,
  ) {
    this._host = session.host;
    this._session = session;
    this._channel = new RequestChannel(session, "firmware");
    this._signal = signal;
    this._options = options;
    this._assignment = assignment;
    this._journal = journal;
    this._reporter = reporter;
  }

  /** Forgets what is under way; the record says what of it may be used again. */
  drop(): void {
    this._source?.hangUp();
    this._source = undefined;
    this._writer = undefined;
    this._download = undefined;
    this._refusal = undefined;
  }

  /** Asks the server of a file how long it is, for the record. False: it is not known, and the journal or the session says why. */
  async measure(image: Image): Promise<boolean> {
    const source = this._fromUrl(image.url ?? "");
    this._channel.clear();
    for (let tries = 0; ; tries++) {
      await this._channel.ready();
      if (!this._session.running || !this._wanted()) return false;
      const { size, answered, outcome } = await source.measure();
      source.hangUp();
      if (!this._session.running || !this._wanted()) return false;
      if (size > 0) return this._journal.keep({ size }) || this._fail("slot");
      if (answered) return this._fail("fileLength");
      const failed = source.failed(outcome);
      if (failed) return this._fail(failed.failure, failed.detail);
      if (tries >= MOST_TRIES) return this._fail("fileUnanswered", statusOf(outcome));
      this._channel.hold();
    }
  }

  /** A part of the image is on its way. */
  get underWay(): boolean {
    return this._download?.underWay === true;
  }

  /**
   * Fetches what is missing, part by part. True: the image is in the slot, and its checksum was right while it came. False: it is not, and the
   * journal, the session or the assignment says why. Undefined: a part is on its way, and the signal is raised at its end.
   */
  async fetch(image: Image): Promise<boolean | undefined> {
    const refusal = this._refusal;
    this._refusal = undefined;
    // The keys were read again and still say the same: so it was no change of the assignment.
    if (refusal) return this._fail(refusal.failure, refusal.detail);
    const writer = this._writer ?? this._open(image);
    if (!writer || !this._source) return this._fail("slot");
    this._download ??= this._begin(writer, this._source);
    const fetched = await this._download.next();
    if (!fetched) return undefined;
    this._download = undefined;
    if (fetched.kind === "stopped") return false;
    if (fetched.kind === "failed") return this._refused(fetched.failure, fetched.detail);
    return fetched.kind === "restarted" ? this._restart() : this._finish(writer, image);
  }

  private _begin(writer: ImageWriter, source: Source): Download {
    const progress = () =>
      this._reporter.progress(
        this._journal.record?.version ?? "",
        Math.max(writer.offset, writer.resumable),
        writer.size,
      );
    const sink = new ImageSink(writer, () => this._wanted(), progress);
    return new Download(this._session, this._channel, this._signal, source, sink);
  }

  /** Reads the slot back. A slot that does not hold the image loses its header. */
  async verify(image: Image): Promise<boolean> {
    const good = await slotHolds(this._host, image);
    if (good || !this._session.running) return good;
    this._host.slot.erase(0);
    return this._fail("readBack");
  }

  /** It is still this image that is assigned, as far as anybody knows. */
  private _wanted(): boolean {
    return !this._assignment.confirmed || this._assignment.key === this._journal.record?.key;
  }

  private _fromUrl(url: string): FromUrl {
    const etag = this._journal.record?.etag || undefined;
    return new FromUrl(this._session, this._options, url, this._options.chunkBytes ?? CHUNK_BYTES, { etag });
  }

  private _open(image: Image): ImageWriter | undefined {
    const { record } = this._journal;
    const check = openCheck(this._host, image);
    if (!record || !check) return undefined;
    // What lay in the slot over a restart is good if its checksum is: without one nobody could know.
    const writer = new ImageWriter(this._host, check, image.size, image.unverified ? 0 : record.offset);
    const chunkBytes = this._options.chunkBytes ?? CHUNK_BYTES;
    const file = image.url === undefined ? undefined : this._fromUrl(image.url);
    this._source = file ?? new FromPlatform(this._session, this._channel, record, chunkBytes);
    const { counters } = this._session;
    const { key, offset } = record;
    // Before a restart, or a stop: it is known to have come.
    counters.fetched(key, offset, offset);
    writer.onTake = (from, to) => counters.fetched(key, from, to);
    writer.onStep = (offset) => {
      this._journal.keep({ offset, etag: file?.version.etag ?? "" });
    };
    if (!writer.open()) return undefined;
    this._reporter.begin(Math.floor((100 * writer.resumable) / image.size));
    this._writer = writer;
    return writer;
  }

  /** What is in the slot is no beginning of the file that is there now. */
  private _restart(): boolean {
    if (++this._begun > MOST_TRIES) return this._fail("fileChanged");
    this.drop();
    this._journal.keep({ offset: 0, etag: "" });
    return false;
  }

  private _refused(failure: Failure, detail: string): boolean {
    if (failure !== "changed" && failure !== "missing") return this._fail(failure, detail);
    // Most likely something else is assigned by now.
    this._refusal = { failure, detail };
    this._assignment.forget(0);
    return false;
  }

  private async _finish(writer: ImageWriter, image: Image): Promise<boolean> {
    this.drop();
    this._begun = 0;
    const problem = await writer.problem();
    if (!this._session.running) return false;
    if (problem) return this._fail(problem === "checksum" && !writer.fresh ? "damaged" : problem);
    // From here on it is known what must be read back.
    const known = image.unverified ? this._journal.keep({ checksum: writer.found }) : true;
    return (known && writer.finish()) || this._fail("slot");
  }

  private _fail(failure: Failure, detail = ""): false {
    this.drop();
    this._begun = 0;
    this._journal.fail(failure, detail);
    return false;
  }
}

// Fetches an image from wherever it is, however often the connection drops.

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

// Where the bytes of an image come from, and what takes them.

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
