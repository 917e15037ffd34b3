import type { FileHead } from "../../../http/file-head.js";
import type { Outcome } from "../../../http/outcome.js";
import type { Pacer, PlatformSession } from "../../../platform/index.js";
import type { Signal } from "../../../platform/signal.js";
import type { Digest } from "../../../port.js";
import { fromHex, toHex } from "../../../wire/crypto/hex.js";
import { type Image, tooLarge } from "../admission.js";
import { type Failed, type Failure, failed } from "../failures.js";
import { NO_FILE, type UpdateJournal, type UpdateRecord } from "../journal.js";
import type { FirmwareOptions } from "../options.js";
import { File } from "./file.js";
import { HEAD_BYTES, ImageWriter } from "./image-writer.js";
import { Package } from "./package.js";
import type { Receiver, Source } from "./source.js";

const CHUNK_BYTES = 16_384;
/** With the sector in progress, below the 16 KiB that a restart may repeat. */
const STEP_BYTES = 8192;
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
const PROGRESS_PERCENT = 5;
const PROGRESS_MS = 5000;
/** The end of a file whose length is unknown. */
const UNKNOWN_END = 2 ** 31 - 1;

/** One download of the assigned image to the slot. It resumes after lost connections. */
export class Download implements Receiver {
  private readonly _session: PlatformSession;
  private readonly _journal: UpdateJournal;
  private readonly _pacer: Pacer;
  private readonly _signal: Signal;
  private readonly _isWanted: () => boolean;
  private readonly _chunkBytes: number;
  private readonly _source: Source;
  private _writer: ImageWriter;
  /** Of the bytes of an image without a checksum. */
  private _digest: Digest | undefined;
  private readonly _algorithm: Image["algorithm"];
  /** Bytes of the image; 0: known only to the server, until it answers. */
  private _size: number;
  /** Bytes that the journal knows. */
  private _stored: number;
  /** Of the request in progress: bytes that it brought, and that it should bring. */
  private _received = 0;
  private _expected = 0;
  private _failed: Failed | undefined;
  private _cancelWatch: () => void = () => {};
  isChanged = false;
  private _restarts = 0;
  private _percent: number;
  private _reportedAt: number;

  /** Its first bytes were in the slot before. */
  readonly isResumed: boolean;

  /** `isWanted`: false once another image is assigned, which raises `signal`. */
  constructor(
    session: PlatformSession,
    signal: Signal,
    options: FirmwareOptions,
    journal: UpdateJournal,
    image: Image,
    isWanted: () => boolean,
  ) {
    const { host, counters } = session;
    const { record } = journal;
    this._session = session;
    this._signal = signal;
    this._journal = journal;
    this._pacer = session.pacer("firmware");
    this._isWanted = isWanted;
    const { chunkBytes = CHUNK_BYTES } = options;
    this._chunkBytes = chunkBytes;
    this._source =
      image.url === undefined
        ? new Package(session, record, chunkBytes)
        : new File(session, options, image.url, record.etag);
    const head = fromHex(record.head);
    // Bytes from before a restart are used only if a checksum can verify them.
    this.isResumed = !image.unverified && head.length === HEAD_BYTES;
    this._stored = this.isResumed ? record.offset : 0;
    this._writer = new ImageWriter(host.slot, this._stored, head);
    this._algorithm = image.algorithm;
    if (image.unverified) this._digest = host.digest(image.algorithm);
    this._size = image.size;
    counters.countDownloaded(record.key, this._stored, this._stored);
    this._percent = image.size > 0 ? Math.floor((100 * this._stored) / image.size) : 0;
    this._reportedAt = host.clock.now();
  }

  /** All bytes are in the slot, except the header. */
  get isComplete(): boolean {
    return this._size > 0 && this._writer.offset >= this._size;
  }

  /** What the journal stores of a complete download. */
  get learned(): Partial<UpdateRecord> {
    const { offset, head } = this._writer;
    const known = { offset, head: toHex(head), size: this._size, etag: this._source.etag };
    return this._digest ? { ...known, checksum: toHex(this._digest.close()) } : known;
  }

  /** Why it failed. Undefined when complete, if the session stopped, or if it is not wanted. */
  async run(): Promise<Failed | undefined> {
    const { _session: session, _source: source, _pacer: pacer } = this;
    // Clear the back-off of an earlier attempt: failed updates have their own delay.
    pacer.clear();
    let vainAnswers = 0;
    while (!this.isComplete) {
      while (this._goesOn && pacer.untilFreeMs !== 0) await this._signal.wait(pacer.untilFreeMs);
      if (!this._goesOn) break;
      const outcome = await this._request();
      this._cancelWatch();
      pacer.brought(this._received);
      if (!this._goesOn) break;
      if (this.isChanged) this._restart();
      if (this._failed) break;
      if (this._received >= MIN_PROGRESS_BYTES) {
        vainAnswers = 0;
        pacer.clear();
        continue;
      }
      // A part that ends at a power of two may be short.
      if (this.isChanged || (this._received > 0 && this._received === this._expected)) continue;
      if (this._received === 0) this._failed = source.refusal(outcome);
      if (this._failed) break;
      pacer.slow(outcome);
      if (session.online) vainAnswers++;
      if (vainAnswers >= MAX_VAIN_ANSWERS)
        this._failed = failed("not delivered", outcome.kind === "lost" ? "" : outcome.status);
      if (this._failed) break;
    }
    source.hangUp();
    if (!this._failed && this.isComplete && !this._writer.flush()) this.fail("slot not writable");
    return this._failed;
  }

  private get _goesOn(): boolean {
    return this._session.running && this._isWanted();
  }

  /** Requests the next bytes. */
  private _request(): Promise<Outcome> {
    const { offset } = this._writer;
    this._received = this._expected = 0;
    this.isChanged = false;
    this._watch(0);
    const end = this._size || UNKNOWN_END;
    // Only with three connections does the image have its own. With fewer, request parts so that
    // others get a turn, and TLS records stay small.
    const to = this._session.connections.streams ? end : Math.min(end, offset + this._chunkBytes);
    return this._source.request(offset, to, this);
  }

  /** Aborts a request that is too slow. `seen`: bytes received until now. */
  private _watch(seen: number): void {
    this._cancelWatch = this._session.host.clock.timer(MINUTE_MS, () => {
      if (this._received - seen < BYTES_PER_MINUTE) this._source.hangUp();
      else this._watch(this._received);
    });
  }

  /** The file changed, so the bytes in the slot are useless. */
  private _restart(): void {
    if (++this._restarts > MAX_RESTARTS) this.fail("file keeps changing");
    this._writer = new ImageWriter(this._session.host.slot, 0, new Uint8Array());
    if (this._digest) this._digest = this._session.host.digest(this._algorithm);
    this._stored = 0;
    this._journal.change(NO_FILE);
  }

  fail(failure: Failure, detail = ""): false {
    this._failed = failed(failure, detail);
    return false;
  }

  expect(to: number): void {
    this._expected = to - this._writer.offset;
  }

  accepts(file: FileHead, to: number): boolean {
    const { offset } = this._writer;
    const isWhole = file.status === 200;
    const total = isWhole ? file.length : file.total;
    const etag = file.etag ?? "";
    const isSame = etag === this._source.etag && total === this._size && file.from === offset;
    if (file.isCoded) return this.fail("compressed file");
    // Without ranges, or after a change, the file may come again as a whole.
    if (offset > 0 && isWhole) this._restart();
    else if (offset > 0 ? !isSame : !isWhole && file.from !== 0) {
      this.isChanged = true;
      return false;
    }
    if (this._writer.offset === 0) {
      this._source.etag = etag;
      if (this._size === 0 && !this._learnSize(total)) return false;
      if (total !== undefined && total !== this._size) return this.fail("wrong length");
    }
    this.expect(isWhole ? this._size : Math.min(to, this._size));
    return this._failed === undefined;
  }

  private _learnSize(total = 0): boolean {
    const { slot } = this._session.host;
    if (total <= 0) return this.fail("no length");
    this._size = total;
    if (total > slot.size) this._failed = tooLarge(total, slot.size);
    return total <= slot.size;
  }

  announced(length: number | undefined): boolean {
    // An empty answer is judged at its end, because there is nothing to abort.
    return length === undefined || length === 0 || length === this._expected || this.fail("wrong length");
  }

  fragment(bytes: Uint8Array): boolean {
    if (!this._isWanted()) return false;
    const { offset } = this._writer;
    this._received += bytes.length;
    if (this._received > this._expected) return this.fail("wrong length");
    this._session.counters.countDownloaded(this._journal.record.key, offset, offset + bytes.length);
    this._digest?.write(bytes);
    if (!this._writer.append(bytes)) return this.fail("slot not writable");
    this._storeStep();
    this._reportProgress();
    return true;
  }

  /** Stores how many sectors are complete, every 8 KiB. */
  private _storeStep(): void {
    const { offset, head } = this._writer;
    const complete = offset - (offset % this._session.host.slot.sectorSize);
    if (complete - this._stored < STEP_BYTES || offset >= this._size) return;
    this._stored = complete;
    const { etag } = this._source;
    this._journal.change({ offset: complete, head: toHex(head), size: this._size, etag });
  }

  /** Reports every 5 percent or, if slower, every 5 s; and 100 percent. */
  private _reportProgress(): void {
    const percent = Math.floor((100 * this._writer.offset) / this._size);
    const now = this._session.host.clock.now();
    if (percent === this._percent) return;
    const isDue = percent - this._percent >= PROGRESS_PERCENT || now - this._reportedAt >= PROGRESS_MS;
    if (percent < 100 && !isDue) return;
    this._percent = percent;
    this._reportedAt = now;
    this._journal.reportProgress(percent);
  }
}
