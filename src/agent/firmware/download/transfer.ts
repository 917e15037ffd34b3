// Brings an assigned image into the slot, and reads it back.

import type { PlatformSession } from "../../../platform/index.js";
import { RequestChannel } from "../../../platform/index.js";
import type { Signal } from "../../../platform/signal.js";
import type { Host } from "../../../port.js";
import type { Image } from "../admission-rules.js";
import type { AssignedUpdate } from "../assigned-update.js";
import type { Failure } from "../failures.js";
import type { FirmwareOptions } from "../options.js";
import type { Reporter } from "../reporter.js";
import type { UpdateJournal } from "../update-journal.js";
import { Download, statusOf } from "./download.js";
import { FromPlatform } from "./from-platform.js";
import { FromUrl } from "./from-url.js";
import { ImageWriter, slotHolds } from "./image-writer.js";
import { ImageSink, type Source } from "./source.js";
import { openCheck } from "./verification.js";

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
