import type { Outcome } from "../../../http/outcome.js";
import type { Pacer, PlatformSession } from "../../../platform/index.js";
import type { Signal } from "../../../platform/signal.js";
import type { Host } from "../../../port.js";
import type { Image } from "../admission.js";
import type { Failure } from "../failures.js";
import type { FirmwareOptions } from "../options.js";
import type { Reporter } from "../reporter.js";
import type { UpdateJournal } from "../update-journal.js";
import { FromPlatform } from "./from-platform.js";
import { FromUrl } from "./from-url.js";
import { ImageWriter } from "./image-writer.js";
import { type Failed, ImageSink, type Source } from "./source.js";
import { openCheck } from "./verification.js";

const CHUNK_BYTES = 16_384;
/** Maximum number of restarts of a changing file before the update fails. */
const MAX_RESTARTS = 10;
/**
 * Maximum of consecutive answers without progress from a reachable platform before the update
 * fails.
 */
const MAX_VAIN_ANSWERS = 10;
/** An incomplete answer with fewer bytes counts as no progress. */
const MIN_PROGRESS_BYTES = 128;
/** A request that brings fewer bytes in a minute is aborted. */
const BYTES_PER_MINUTE = 1024;
const MINUTE_MS = 60_000;

/**
 * `underWay`: more is to come. `complete`: the image is in the slot and its checksum is right.
 * `doubtful`: the assignment must be read again first. `ended`: see journal or session.
 */
export type Progress = "underWay" | "complete" | "doubtful" | "ended";

/** A download in progress, one request at a time. */
interface Transfer {
  readonly source: Source;
  readonly sink: ImageSink;
  /** Number of consecutive answers without progress. */
  vainAnswers: number;
  /** Outcome of the last request; undefined while one is in progress. */
  outcome: Outcome | undefined;
}

/** Downloads the assigned image to the slot, and resumes after lost connections. */
export class Download {
  private readonly _host: Host;
  private readonly _session: PlatformSession;
  private readonly _pacer: Pacer;
  private readonly _options: FirmwareOptions;
  private readonly _isWanted: () => boolean;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  private readonly _signal: Signal;
  private _transfer: Transfer | undefined;
  /** Number of restarts of this image. */
  private _restarts = 0;
  /**
   * A failure that a changed assignment would explain. It counts if the next read shows no change.
   */
  private _doubtful: Failed | undefined;

  /** `isWanted`: the journal's image is the assigned one, as far as known. */
  constructor(
    session: PlatformSession,
    signal: Signal,
    options: FirmwareOptions,
    isWanted: () => boolean,
    journal: UpdateJournal,
    reporter: Reporter,
  ) {
    this._host = session.host;
    this._session = session;
    this._pacer = session.pacer("firmware");
    this._signal = signal;
    this._options = options;
    this._isWanted = isWanted;
    this._journal = journal;
    this._reporter = reporter;
  }

  /** A request is in progress. Its end raises the signal. */
  get underWay(): boolean {
    return this._transfer !== undefined && !this._transfer.outcome;
  }

  /** Drops the transfer. The record keeps which bytes in the slot can be reused. */
  drop(): void {
    this._transfer?.source.hangUp();
    this._transfer = undefined;
    this._doubtful = undefined;
  }

  /**
   * Requests the next missing part, or the length of a file that only its server knows. Never
   * requests bytes that are in the slot.
   */
  async advance(image: Image): Promise<Progress> {
    if (this._doubtful) return this._fail(this._doubtful.failure, this._doubtful.detail);
    const transfer = this._transfer ?? this._open(image);
    if (!transfer) return this._fail("slot");
    const { source, sink, outcome } = transfer;
    const { writer } = sink;
    if (outcome) {
      this._pacer.brought(sink.received);
      const progress = this._judge(transfer, outcome);
      if (progress !== "underWay") return progress;
    }
    if (writer) {
      if (writer.offset === writer.requestEnd && writer.resumable > 0 && !(await writer.recall()))
        return this._fail("slot");
      if (writer.offset >= writer.size) return this._finish(writer, image);
    }
    await this._pacer.ready();
    if (!this._session.running || !this._isWanted()) return this._end();
    transfer.outcome = undefined;
    sink.reset();
    const stopWatching = this._abortIfSlow(transfer);
    source.request(sink, (result) => {
      stopWatching();
      // Another transfer may have begun meanwhile.
      if (this._transfer !== transfer) return;
      transfer.outcome = result;
      this._signal.notify();
    });
    return "underWay";
  }

  private _open(image: Image): Transfer | undefined {
    const { record } = this._journal;
    const chunkBytes = this._options.chunkBytes ?? CHUNK_BYTES;
    const source: Source =
      image.url === undefined
        ? new FromPlatform(this._session, record, chunkBytes)
        : new FromUrl(this._session, this._options, image.url, chunkBytes, record.etag);
    const writer = image.size > 0 ? this._openWriter(image, source) : undefined;
    if (image.size > 0 && !writer) return undefined;
    const sink = new ImageSink(writer, this._isWanted, () => {
      if (writer) this._reporter.progress(record.version, writer.done, image.size);
    });
    // Clear the back-off of an earlier attempt: failed updates have their own delay.
    this._pacer.clear();
    this._transfer = { source, sink, vainAnswers: 0, outcome: undefined };
    return this._transfer;
  }

  private _openWriter(image: Image, source: Source): ImageWriter | undefined {
    const check = openCheck(this._host, image);
    const { key, offset } = this._journal.record;
    const { counters } = this._session;
    if (!check) return undefined;
    // Bytes from before a restart are reused only if a checksum can verify them.
    const writer = new ImageWriter(this._host, check, image.size, image.unverified ? 0 : offset, {
      onTake: (from, to) => counters.countDownloaded(key, from, to),
      onStep: (written) => {
        this._journal.change({ offset: written, etag: source.etag });
      },
    });
    // Bytes from before a restart or a stop were fetched already.
    counters.countDownloaded(key, offset, offset);
    this._reporter.progressFrom(Math.floor((100 * writer.resumable) / image.size));
    return writer.unseal() ? writer : undefined;
  }

  /** Aborts a request that is too slow. Call the result to stop watching. */
  private _abortIfSlow({ source, sink }: Transfer): () => void {
    const { clock } = this._host;
    let cancel = (): void => {};
    const arm = (): void => {
      const seen = sink.received;
      cancel = clock.timer(MINUTE_MS, () => {
        if (sink.received - seen < BYTES_PER_MINUTE) source.hangUp();
        else arm();
      });
    };
    arm();
    return () => cancel();
  }

  /** What a request brought: the transfer goes on or ended. */
  private _judge(transfer: Transfer, outcome: Outcome): Progress {
    const { source, sink } = transfer;
    const { received } = sink;
    if (!this._session.running || !this._isWanted()) return this._end();
    if (sink.failure) return this._fail(sink.failure);
    if (source.restarted) return this._restart();
    if (source.length > 0)
      return this._journal.change({ size: source.length }) ? this._end() : this._fail("slot");
    if (received >= MIN_PROGRESS_BYTES) {
      transfer.vainAnswers = 0;
      this._pacer.clear();
      return "underWay";
    }
    // A part that ends at a power of two may be short.
    if (received > 0 && sink.complete) return "underWay";
    const refusal = received > 0 ? undefined : source.refusal(outcome);
    if (refusal) return this._refused(refusal);
    this._pacer.slow(outcome);
    if (this._session.online) transfer.vainAnswers++;
    if (transfer.vainAnswers < MAX_VAIN_ANSWERS) return "underWay";
    return this._fail("unanswered", outcome.kind === "lost" ? "" : String(outcome.status));
  }

  private _end(): Progress {
    this.drop();
    return "ended";
  }

  /** The file changed, so the bytes in the slot are useless. */
  private _restart(): Progress {
    if (++this._restarts > MAX_RESTARTS) return this._fail("fileChanged");
    this._journal.change({ offset: 0, etag: "" });
    return this._end();
  }

  private _refused(refusal: Failed): Progress {
    const { failure, detail } = refusal;
    if (failure !== "missing") return this._fail(failure, detail);
    // Most likely another image is assigned now.
    this.drop();
    this._doubtful = refusal;
    return "doubtful";
  }

  private async _finish(writer: ImageWriter, image: Image): Promise<Progress> {
    this.drop();
    this._restarts = 0;
    const problem = await writer.problem();
    if (!this._session.running) return "ended";
    if (problem) return this._fail(problem === "checksum" && !writer.fresh ? "damaged" : problem);
    // From here on, the checksum to verify in the slot is known.
    const known = image.unverified ? this._journal.change({ checksum: writer.found }) : true;
    return known && writer.seal() ? "complete" : this._fail("slot");
  }

  private _fail(failure: Failure, detail = ""): Progress {
    this._restarts = 0;
    this._journal.fail(failure, detail);
    return this._end();
  }
}
