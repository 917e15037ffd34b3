import type { Outcome } from "../../../http/outcome.js";
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
import { ImageSink, type Source } from "./source.js";
import { openCheck } from "./verification.js";

const CHUNK_BYTES = 16_384;
/** Restarts of a changing file, or requests for its length, before the update fails. */
const MOST_TRIES = 10;
/** Answers without progress in a row, from a platform that is online, before the update fails. */
const VAIN_ATTEMPTS = 10;
/** An answer with fewer bytes, and not all that was asked for, is no progress. */
const LEAST_BYTES = 128;
/** A request that brings fewer bytes in a minute is aborted. */
const BYTES_PER_MINUTE = 1024;
const MINUTE_MS = 60_000;

/** `complete`: the image is in the slot and its checksum was right. `ended`: the journal or the session says why. */
export type Progress = "underWay" | "complete" | "ended";

/** An image on its way, one request after the other. */
interface Transfer {
  readonly source: Source;
  readonly sink: ImageSink;
  /** Answers without progress in a row. */
  vain: number;
  /** The writer's offset before the request under way, or -1. */
  from: number;
  /** How that request ended; undefined while it is under way. */
  outcome: Outcome | undefined;
}

/** Brings the assigned image into the slot, however often the connection drops, and reads it back. */
export class Download {
  private readonly _host: Host;
  private readonly _session: PlatformSession;
  private readonly _channel: RequestChannel;
  private readonly _options: FirmwareOptions;
  private readonly _assignment: AssignedUpdate;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  private readonly _signal: Signal;
  private _transfer: Transfer | undefined;
  /** How often this image was started again. */
  private _restarts = 0;
  /** A refusal that a changed assignment would explain: it counts if the next read shows no change. */
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

  /** Forgets the transfer. The record says which bytes in the slot can be used again. */
  drop(): void {
    this._transfer?.source.hangUp();
    this._transfer = undefined;
    this._refusal = undefined;
  }

  /** A request for a part is on its way. Its end raises the signal. */
  get underWay(): boolean {
    const transfer = this._transfer;
    return transfer !== undefined && transfer.from >= 0 && transfer.outcome === undefined;
  }

  /** Asks a file's server for its length, and records the length or the failure. */
  async measure(image: Image): Promise<void> {
    const source = this._fromUrl(image.url ?? "");
    this._channel.clear();
    for (let tries = 0; ; tries++) {
      await this._channel.ready();
      if (!this._session.running || !this._wanted()) return;
      const { size, answered, outcome } = await source.measure();
      source.hangUp();
      if (!this._session.running || !this._wanted()) return;
      if (size > 0) {
        if (!this._journal.save({ size })) this._fail("slot");
        return;
      }
      const failed = answered ? { failure: "fileLength" as const, detail: "" } : source.failed(outcome);
      if (failed || tries >= MOST_TRIES) {
        this._fail(failed?.failure ?? "fileUnanswered", failed ? failed.detail : statusOf(outcome));
        return;
      }
      this._channel.hold();
    }
  }

  /** Requests the next missing part. No byte in the slot is fetched again. */
  async advance(image: Image): Promise<Progress> {
    const refusal = this._refusal;
    this._refusal = undefined;
    if (refusal) return this._fail(refusal.failure, refusal.detail);
    const transfer = this._transfer ?? this._open(image);
    if (!transfer) return this._fail("slot");
    const { sink, outcome } = transfer;
    const { writer } = sink;
    const got = writer.offset - transfer.from;
    transfer.outcome = undefined;
    transfer.from = -1;
    if (outcome) {
      const ended = this._judge(transfer, outcome, got);
      if (ended) return ended;
    }
    if (writer.offset === writer.end && writer.resumable > 0 && !(await writer.recall()))
      return this._fail("slot");
    if (writer.offset >= writer.size) return this._finish(writer, image);
    await this._channel.ready();
    if (!this._session.running || !sink.wanted()) return this._stop();
    transfer.from = writer.offset;
    const stopWatch = this._watch(transfer);
    transfer.source.part(sink, (result) => {
      // Here, not at the next turn: there is none after a stop, nor for another image.
      stopWatch();
      transfer.outcome = result;
      this._signal.notify();
    });
    return "underWay";
  }

  /** Reads the slot back. A slot that does not hold the image loses its header. */
  async verify(image: Image): Promise<boolean> {
    const good = await slotHolds(this._host, image);
    if (good || !this._session.running) return good;
    this._host.slot.erase(0);
    this._fail("readBack");
    return false;
  }

  /** This image is still the assigned one, as far as is known. */
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
        ? new FromPlatform(this._session, this._channel, record, this._options.chunkBytes ?? CHUNK_BYTES)
        : this._fromUrl(image.url);
    // Bytes from before a restart count only if a checksum can prove them.
    const writer = new ImageWriter(this._host, check, image.size, image.unverified ? 0 : offset, {
      onTake: (from, to) => counters.fetched(key, from, to),
      onStep: (reached) => {
        this._journal.save({ offset: reached, etag: source.etag });
      },
    });
    // Bytes from before a restart or a stop have been fetched.
    counters.fetched(key, offset, offset);
    if (!writer.open()) return undefined;
    this._reporter.begin(Math.floor((100 * writer.resumable) / image.size));
    const progress = () =>
      this._reporter.progress(version, Math.max(writer.offset, writer.resumable), writer.size);
    const sink = new ImageSink(writer, () => this._wanted(), progress);
    // The back-off of an earlier attempt is over: failed updates have a wait of their own.
    this._channel.clear();
    this._transfer = { source, sink, vain: 0, from: -1, outcome: undefined };
    return this._transfer;
  }

  /** Aborts a request that brings too little. The result stops the watch. */
  private _watch({ source, sink: { writer } }: Transfer): () => void {
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

  /** A request ended after `got` bytes. Undefined: the transfer continues. */
  private _judge(transfer: Transfer, outcome: Outcome, got: number): Progress | undefined {
    const { source, sink } = transfer;
    if (!this._session.running || !sink.wanted()) return this._stop();
    if (sink.failure) return this._fail(sink.failure);
    if (source.restarted) return this._restart();
    if (got >= LEAST_BYTES) {
      transfer.vain = 0;
      this._channel.clear();
      return undefined;
    }
    // A part that ends at a power of two may be short.
    if (got > 0 && sink.complete) return undefined;
    const failed = got > 0 ? undefined : source.failed(outcome);
    if (failed) return this._refused(failed.failure, failed.detail);
    this._channel.hold(outcome.kind === "busy" ? outcome.retryAfterMs : undefined);
    if (this._session.online) transfer.vain++;
    return transfer.vain < VAIN_ATTEMPTS ? undefined : this._fail(source.unanswered, statusOf(outcome));
  }

  private _stop(): Progress {
    this._transfer = undefined;
    return "ended";
  }

  /** The file changed: the bytes in the slot are useless. */
  private _restart(): Progress {
    if (++this._restarts > MOST_TRIES) return this._fail("fileChanged");
    this.drop();
    this._journal.save({ offset: 0, etag: "" });
    return "ended";
  }

  private _refused(failure: Failure, detail: string): Progress {
    if (failure !== "changed" && failure !== "missing") return this._fail(failure, detail);
    // Most likely another image is assigned by now.
    this.drop();
    this._refusal = { failure, detail };
    this._assignment.forget(0);
    return "ended";
  }

  private async _finish(writer: ImageWriter, image: Image): Promise<Progress> {
    this.drop();
    this._restarts = 0;
    const problem = await writer.problem();
    if (!this._session.running) return "ended";
    if (problem) return this._fail(problem === "checksum" && !writer.fresh ? "damaged" : problem);
    // From here on the checksum is known that must be read back.
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

/** The status for a message; empty if there was no answer. */
const statusOf = (outcome: Outcome): string => {
  return outcome.kind === "lost" ? "" : String(outcome.status);
};
