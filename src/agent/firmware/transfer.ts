// Brings an assigned image into the slot, and reads it back.
import type { Host } from "../../port.js";
import { Lane } from "../lane.js";
import type { Link } from "../link.js";
import type { Assignment } from "./assignment.js";
import { openCheck } from "./check.js";
import { Download, ImageSink } from "./download.js";
import type { Failure } from "./failures.js";
import type { Image } from "./gate.js";
import { ImageWriter, slotHolds } from "./image-writer.js";
import type { Ledger } from "./ledger.js";
import type { Reporter } from "./reporter.js";

export class Transfer {
  readonly #host: Host;
  readonly #link: Link;
  readonly #lane: Lane;
  readonly #chunkBytes: number;
  readonly #assignment: Assignment;
  readonly #ledger: Ledger;
  readonly #reporter: Reporter;
  #writer: ImageWriter | undefined;
  #refusal: { failure: Failure; detail: string } | undefined;

  constructor(link: Link, chunkBytes: number, assignment: Assignment, ledger: Ledger, reporter: Reporter) {
    this.#host = link.host;
    this.#link = link;
    this.#lane = new Lane(link, "firmware");
    this.#chunkBytes = chunkBytes;
    this.#assignment = assignment;
    this.#ledger = ledger;
    this.#reporter = reporter;
  }

  /** Forgets what is under way; the record tells what of it may be used again. */
  drop(): void {
    this.#writer = undefined;
    this.#refusal = undefined;
  }

  /**
   * Fetches what is missing. True: the image is in the slot, and its checksum was right while it came. False: it is not, and the ledger,
   * the link or the assignment tells why.
   */
  fetch(image: Image): Promise<boolean> {
    const { record } = this.#ledger;
    const refusal = this.#refusal;
    this.#refusal = undefined;
    // The keys were read anew and still say the same: so it was no change of the assignment.
    if (refusal) return Promise.resolve(this.#fail(refusal.failure, refusal.detail));
    const writer = this.#writer ?? this.#open(image);
    if (!writer || !record) return Promise.resolve(this.#fail("slot"));
    const download = new Download(this.#link, this.#lane, record, this.#chunkBytes);
    const wanted = () => !this.#assignment.settled || this.#assignment.key === this.#ledger.record?.key;
    const progress = () =>
      this.#reporter.progress(
        this.#ledger.record?.version ?? "",
        Math.max(writer.offset, writer.kept),
        writer.size,
      );
    return download.fetch(new ImageSink(writer, wanted, progress)).then((fetched) => {
      if (fetched.kind === "stopped") return false;
      if (fetched.kind === "failed") return this.#refused(fetched.failure, fetched.status);
      return this.#finish(writer);
    });
  }

  /** Reads the slot back. A slot that does not hold the image loses its header. */
  async verify(image: Image): Promise<boolean> {
    const good = await slotHolds(this.#host, image);
    if (good || !this.#link.running) return good;
    this.#host.slot.erase(0);
    return this.#fail("readBack");
  }

  #open(image: Image): ImageWriter | undefined {
    const { record } = this.#ledger;
    const check = openCheck(this.#host, image);
    if (!record || !check) return undefined;
    const writer = new ImageWriter(this.#host, check, image.size, record.offset);
    writer.onStep = (offset) => {
      this.#ledger.keep({ offset });
    };
    if (!writer.open()) return undefined;
    this.#reporter.begin(Math.floor((100 * writer.kept) / image.size));
    this.#writer = writer;
    return writer;
  }

  #refused(failure: Failure, status: number | undefined): boolean {
    const detail = status === undefined ? "" : String(status);
    if (failure !== "changed" && failure !== "missing") return this.#fail(failure, detail);
    // Most likely something else is assigned by now.
    this.#refusal = { failure, detail };
    this.#assignment.forget(0);
    return false;
  }

  async #finish(writer: ImageWriter): Promise<boolean> {
    this.#writer = undefined;
    const flaw = await writer.flaw();
    if (!this.#link.running) return false;
    if (flaw) return this.#fail(flaw === "checksum" && !writer.fresh ? "damaged" : flaw);
    return writer.finish() || this.#fail("slot");
  }

  #fail(failure: Failure, detail = ""): false {
    this.drop();
    this.#ledger.fail(failure, detail);
    return false;
  }
}
