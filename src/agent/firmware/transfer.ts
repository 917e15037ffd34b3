// Brings an assigned image into the slot, and reads it back.
import type { Host } from "../../port.js";
import { Lane } from "../lane.js";
import type { Link } from "../link.js";
import type { Signal } from "../signal.js";
import type { Assignment } from "./assignment.js";
import { openCheck } from "./check.js";
import { Download, statusOf } from "./download.js";
import type { Failure } from "./failures.js";
import { FromPlatform } from "./from-platform.js";
import { FromUrl } from "./from-url.js";
import type { Image } from "./gate.js";
import { ImageWriter, slotHolds } from "./image-writer.js";
import type { Ledger } from "./ledger.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import { ImageSink, type Source } from "./source.js";

const CHUNK_BYTES = 16_384;
/** A file that had to be begun anew so often is given up for now; so is a server that does not tell its length. */
const MOST_TRIES = 10;

export class Transfer {
  readonly #host: Host;
  readonly #link: Link;
  readonly #lane: Lane;
  readonly #options: FirmwareOptions;
  readonly #assignment: Assignment;
  readonly #ledger: Ledger;
  readonly #reporter: Reporter;
  readonly #signal: Signal;
  #source: Source | undefined;
  #writer: ImageWriter | undefined;
  #download: Download | undefined;
  /** Times that the download of this image began anew. */
  #begun = 0;
  #refusal: { failure: Failure; detail: string } | undefined;

  constructor(
    link: Link,
    signal: Signal,
    options: FirmwareOptions,
    assignment: Assignment,
    ledger: Ledger,
    reporter: Reporter,
  ) {
    this.#host = link.host;
    this.#link = link;
    this.#lane = new Lane(link, "firmware");
    this.#signal = signal;
    this.#options = options;
    this.#assignment = assignment;
    this.#ledger = ledger;
    this.#reporter = reporter;
  }

  /** Forgets what is under way; the record tells what of it may be used again. */
  drop(): void {
    this.#source?.hangUp();
    this.#source = undefined;
    this.#writer = undefined;
    this.#download = undefined;
    this.#refusal = undefined;
  }

  /** Asks the server of a file how long it is, for the record. False: it is not known, and the ledger or the link tells why. */
  async measure(image: Image): Promise<boolean> {
    const source = this.#fromUrl(image.url ?? "");
    this.#lane.clear();
    for (let tries = 0; ; tries++) {
      await this.#lane.ready();
      if (!this.#link.running || !this.#wanted()) return false;
      const { size, told, outcome } = await source.measure();
      source.hangUp();
      if (!this.#link.running || !this.#wanted()) return false;
      if (size > 0) return this.#ledger.keep({ size }) || this.#fail("slot");
      if (told) return this.#fail("fileLength");
      const failed = source.failed(outcome);
      if (failed) return this.#fail(failed.failure, failed.detail);
      if (tries >= MOST_TRIES) return this.#fail("fileUnanswered", statusOf(outcome));
      this.#lane.hold();
    }
  }

  /** A part of the image is on its way. */
  get underWay(): boolean {
    return this.#download?.underWay === true;
  }

  /**
   * Fetches what is missing, part by part. True: the image is in the slot, and its checksum was right while it came. False: it is not, and the
   * ledger, the link or the assignment tells why. Undefined: a part is on its way, and the signal is raised at its end.
   */
  async fetch(image: Image): Promise<boolean | undefined> {
    const refusal = this.#refusal;
    this.#refusal = undefined;
    // The keys were read anew and still say the same: so it was no change of the assignment.
    if (refusal) return this.#fail(refusal.failure, refusal.detail);
    const writer = this.#writer ?? this.#open(image);
    if (!writer || !this.#source) return this.#fail("slot");
    this.#download ??= this.#begin(writer, this.#source);
    const fetched = await this.#download.next();
    if (!fetched) return undefined;
    this.#download = undefined;
    if (fetched.kind === "stopped") return false;
    if (fetched.kind === "failed") return this.#refused(fetched.failure, fetched.detail);
    return fetched.kind === "anew" ? this.#anew() : this.#finish(writer, image);
  }

  #begin(writer: ImageWriter, source: Source): Download {
    const progress = () =>
      this.#reporter.progress(
        this.#ledger.record?.version ?? "",
        Math.max(writer.offset, writer.kept),
        writer.size,
      );
    const sink = new ImageSink(writer, () => this.#wanted(), progress);
    return new Download(this.#link, this.#lane, this.#signal, source, sink);
  }

  /** Reads the slot back. A slot that does not hold the image loses its header. */
  async verify(image: Image): Promise<boolean> {
    const good = await slotHolds(this.#host, image);
    if (good || !this.#link.running) return good;
    this.#host.slot.erase(0);
    return this.#fail("readBack");
  }

  /** It is still this image that is assigned, as far as anybody knows. */
  #wanted(): boolean {
    return !this.#assignment.settled || this.#assignment.key === this.#ledger.record?.key;
  }

  #fromUrl(url: string): FromUrl {
    const etag = this.#ledger.record?.etag || undefined;
    return new FromUrl(this.#link, this.#options, url, this.#options.chunkBytes ?? CHUNK_BYTES, { etag });
  }

  #open(image: Image): ImageWriter | undefined {
    const { record } = this.#ledger;
    const check = openCheck(this.#host, image);
    if (!record || !check) return undefined;
    // What lay in the slot over a restart is good if its checksum is: without one nobody could tell.
    const writer = new ImageWriter(this.#host, check, image.size, image.unverified ? 0 : record.offset);
    const chunkBytes = this.#options.chunkBytes ?? CHUNK_BYTES;
    const file = image.url === undefined ? undefined : this.#fromUrl(image.url);
    this.#source = file ?? new FromPlatform(this.#link, this.#lane, record, chunkBytes);
    const { counters } = this.#link;
    const { key, offset } = record;
    // Before a restart, or a stop: it is known to have come.
    counters.fetched(key, offset, offset);
    writer.onTake = (from, to) => counters.fetched(key, from, to);
    writer.onStep = (offset) => {
      this.#ledger.keep({ offset, etag: file?.mark.etag ?? "" });
    };
    if (!writer.open()) return undefined;
    this.#reporter.begin(Math.floor((100 * writer.kept) / image.size));
    this.#writer = writer;
    return writer;
  }

  /** What is in the slot is no beginning of the file that is there now. */
  #anew(): boolean {
    if (++this.#begun > MOST_TRIES) return this.#fail("fileChanged");
    this.drop();
    this.#ledger.keep({ offset: 0, etag: "" });
    return false;
  }

  #refused(failure: Failure, detail: string): boolean {
    if (failure !== "changed" && failure !== "missing") return this.#fail(failure, detail);
    // Most likely something else is assigned by now.
    this.#refusal = { failure, detail };
    this.#assignment.forget(0);
    return false;
  }

  async #finish(writer: ImageWriter, image: Image): Promise<boolean> {
    this.drop();
    this.#begun = 0;
    const flaw = await writer.flaw();
    if (!this.#link.running) return false;
    if (flaw) return this.#fail(flaw === "checksum" && !writer.fresh ? "damaged" : flaw);
    // From here on it is known what must be read back.
    const known = image.unverified ? this.#ledger.keep({ checksum: writer.found }) : true;
    return (known && writer.finish()) || this.#fail("slot");
  }

  #fail(failure: Failure, detail = ""): false {
    this.drop();
    this.#begun = 0;
    this.#ledger.fail(failure, detail);
    return false;
  }
}
