import type { Outcome } from "../../../http/outcome.js";
import type { Pacer, PlatformSession } from "../../../platform/index.js";
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
import { ImageSink, type Source } from "./source.js";
import { openCheck } from "./verification.js";

const CHUNK_BYTES = 16_384;
/**
 * Maximum of restarts of a changing file, and of requests for its length, before the update fails.
 */
const MAX_TRIES = 10;
/**
 * Maximum of consecutive answers without progress from a reachable platform before the update
 * fails.
 */
const MAX_VAIN_ANSWERS = 10;
/** An incomplete answer with fewer bytes counts as no progress. */
const MIN_PROGRESS_BYTES = 128;
/** A request that brings fewer bytes in a minute is aborted. */
/** A request that brought so many bytes does not count in the budget. */
const FREE_BYTES = 1024;
const BYTES_PER_MINUTE = 1024;
const MINUTE_MS = 60_000;

/**
 * `underWay`: more is to come. `complete`: the image is in the slot and its checksum is right.
 * `ended`: see journal or session.
 */
export type Progress = "underWay" | "complete" | "ended";

/** A download in progress, one request at a time. */
interface Transfer {
  readonly source: Source;
  readonly sink: ImageSink;
  /** Number of consecutive answers without progress. */
  answersWithoutProgress: number;
  /** The writer's offset before the current request; -1: no request. */
  requestedFrom: number;
  /** Outcome of that request; undefined while it is in progress. */
  outcome: Outcome | undefined;
}

/**
 * Downloads the assigned image to the slot, resumes after lost connections, and verifies the slot.
 */
export class Download {
  private readonly _host: Host;
  private readonly _session: PlatformSession;
  private readonly _pacer: Pacer;
  private readonly _options: FirmwareOptions;
  private readonly _assignment: AssignedUpdate;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  private readonly _signal: Signal;
  private _transfer: Transfer | undefined;
  /** Number of restarts of this image. */
  private _restarts = 0;
  /**
   * A failure that a changed assignment would explain. It counts if the next read shows no change.
   */
  private _unconfirmedFailure: { failure: Failure; detail: string } | undefined;

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
    this._pacer = session.pacer("firmware");
    this._signal = signal;
    this._options = options;
    this._assignment = assignment;
    this._journal = journal;
    this._reporter = reporter;
  }

  /** Drops the transfer. The record keeps which bytes in the slot can be reused. */
  drop(): void {
    this._transfer?.source.hangUp();
    this._transfer = undefined;
    this._unconfirmedFailure = undefined;
  }

  /** A request for a part is in progress. Its end raises the signal. */
  get underWay(): boolean {
    const transfer = this._transfer;
    return transfer !== undefined && transfer.requestedFrom >= 0 && transfer.outcome === undefined;
  }

  /** Requests the length of the file from its server, and records the length or the failure. */
  async measure(image: Image): Promise<void> {
    const source = this._fromUrl(image.url ?? "");
    this._pacer.clear();
    for (let tries = 0; ; tries++) {
      await this._pacer.ready();
      if (!this._session.running || !this._wanted()) return;
      const { size, answered, outcome } = await source.measure();
      source.hangUp();
      if (!this._session.running || !this._wanted()) return;
      if (size > 0 && !source.isCoded) {
        if (!this._journal.save({ size })) this._fail("slot");
        return;
      }
      const failed =
        source.failed(outcome) ?? (answered ? { failure: "fileLength" as const, detail: "" } : undefined);
      if (failed || tries >= MAX_TRIES) {
        this._fail(failed?.failure ?? "fileUnanswered", failed ? failed.detail : statusOf(outcome));
        return;
      }
      this._pacer.slow();
    }
  }

  /** Requests the next missing part. Never requests bytes that are in the slot. */
  async advance(image: Image): Promise<Progress> {
    const unconfirmed = this._unconfirmedFailure;
    this._unconfirmedFailure = undefined;
    if (unconfirmed) return this._fail(unconfirmed.failure, unconfirmed.detail);
    const transfer = this._transfer ?? this._open(image);
    if (!transfer) return this._fail("slot");
    const { sink, outcome } = transfer;
    const { writer } = sink;
    const receivedBytes = writer.offset - transfer.requestedFrom;
    transfer.outcome = undefined;
    transfer.requestedFrom = -1;
    if (outcome) this._pacer.refund(Math.min(1, receivedBytes / FREE_BYTES));
    if (outcome && this._progressAfter(transfer, outcome, receivedBytes) === "ended") return "ended";
    if (writer.offset === writer.end && writer.resumable > 0 && !(await writer.recall()))
      return this._fail("slot");
    if (writer.offset >= writer.size) return this._finish(writer, image);
    await this._pacer.ready();
    if (!this._session.running || !sink.wanted()) return this._end();
    transfer.requestedFrom = writer.offset;
    const stopWatching = this._abortIfSlow(transfer);
    transfer.source.part(sink, (result) => {
      // Store the result here, because a stop or another image may prevent the next turn.
      stopWatching();
      transfer.outcome = result;
      this._signal.notify();
    });
    return "underWay";
  }

  /** Verifies the slot. If it does not hold the image, erases its header. */
  async verify(image: Image): Promise<boolean> {
    const good = await slotHolds(this._host, image);
    if (good || !this._session.running) return good;
    this._host.slot.erase(0);
    this._fail("readBack");
    return false;
  }

  /** True while this image is the assigned one, as far as known. */
  private _wanted(): boolean {
    return !this._assignment.confirmed || this._assignment.key === this._journal.record?.key;
  }

  private _fromUrl(url: string): FromUrl {
    const etag = this._journal.record?.etag || undefined;
    return new FromUrl(this._session, this._options, url, this._options.chunkBytes ?? CHUNK_BYTES, etag);
  }

  private _open(image: Image): Transfer | undefined {
    const { record } = this._journal;
    const check = openCheck(this._host, image);
    if (!record || !check) return undefined;
    const { counters } = this._session;
    const { key, offset, version } = record;
    const source: Source =
      image.url === undefined
        ? new FromPlatform(this._session, record, this._options.chunkBytes ?? CHUNK_BYTES)
        : this._fromUrl(image.url);
    // Bytes from before a restart are reused only if a checksum can verify them.
    const writer = new ImageWriter(this._host, check, image.size, image.unverified ? 0 : offset, {
      onTake: (from, to) => counters.countDownloaded(key, from, to),
      onStep: (written) => {
        this._journal.save({ offset: written, etag: source.etag });
      },
    });
    // Bytes from before a restart or a stop were fetched already.
    counters.countDownloaded(key, offset, offset);
    if (!writer.open()) return undefined;
    this._reporter.begin(Math.floor((100 * writer.resumable) / image.size));
    const progress = () =>
      this._reporter.progress(version, Math.max(writer.offset, writer.resumable), writer.size);
    const sink = new ImageSink(writer, () => this._wanted(), progress);
    // Clear the back-off of an earlier attempt: failed updates have their own delay.
    this._pacer.clear();
    this._transfer = { source, sink, answersWithoutProgress: 0, requestedFrom: -1, outcome: undefined };
    return this._transfer;
  }

  /** Aborts a request that is too slow. Call the result to stop watching. */
  private _abortIfSlow({ source, sink: { writer } }: Transfer): () => void {
    const { clock } = this._host;
    let cancel = (): void => {};
    const arm = (): void => {
      const seen = writer.offset;
      cancel = clock.timer(MINUTE_MS, () => {
        if (writer.offset - seen < BYTES_PER_MINUTE) source.hangUp();
        else arm();
      });
    };
    arm();
    return () => cancel();
  }

  /** The progress after a request brought `receivedBytes`: the transfer continues or ended. */
  private _progressAfter(transfer: Transfer, outcome: Outcome, receivedBytes: number): Progress {
    const { source, sink } = transfer;
    if (!this._session.running || !sink.wanted()) return this._end();
    if (sink.failure) return this._fail(sink.failure);
    if (source.restarted) return this._restart();
    if (receivedBytes >= MIN_PROGRESS_BYTES) {
      transfer.answersWithoutProgress = 0;
      this._pacer.clear();
      return "underWay";
    }
    // A part that ends at a power of two may be short.
    if (receivedBytes > 0 && sink.complete) return "underWay";
    const failed = receivedBytes > 0 ? undefined : source.failed(outcome);
    if (failed) return this._sourceFailed(failed.failure, failed.detail);
    this._pacer.slow(outcome.kind === "busy" ? outcome.retryAfterMs : undefined);
    if (this._session.online) transfer.answersWithoutProgress++;
    return transfer.answersWithoutProgress < MAX_VAIN_ANSWERS
      ? "underWay"
      : this._fail(source.unanswered, statusOf(outcome));
  }

  private _end(): Progress {
    this.drop();
    return "ended";
  }

  /** The file changed, so the bytes in the slot are useless. */
  private _restart(): Progress {
    if (++this._restarts > MAX_TRIES) return this._fail("fileChanged");
    this.drop();
    this._journal.save({ offset: 0, etag: "" });
    return "ended";
  }

  private _sourceFailed(failure: Failure, detail: string): Progress {
    if (failure !== "changed" && failure !== "missing") return this._fail(failure, detail);
    // Most likely another image is assigned now.
    this.drop();
    this._unconfirmedFailure = { failure, detail };
    this._assignment.forget(0);
    return "ended";
  }

  private async _finish(writer: ImageWriter, image: Image): Promise<Progress> {
    this.drop();
    this._restarts = 0;
    const problem = await writer.problem();
    if (!this._session.running) return "ended";
    if (problem) return this._fail(problem === "checksum" && !writer.fresh ? "damaged" : problem);
    // From here on, the checksum to verify in the slot is known.
    const known = image.unverified ? this._journal.save({ checksum: writer.found }) : true;
    return known && writer.finish() ? "complete" : this._fail("slot");
  }

  private _fail(failure: Failure, detail = ""): "ended" {
    this.drop();
    this._restarts = 0;
    this._journal.fail(failure, detail);
    return "ended";
  }
}

/** The status for a message; empty without an answer. */
const statusOf = (outcome: Outcome): string => {
  return outcome.kind === "lost" ? "" : String(outcome.status);
};
