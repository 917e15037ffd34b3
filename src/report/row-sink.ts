import type { Sink } from "../net/request.js";
import type { Host } from "../port.js";
import type { RowTaker } from "../wire/report.js";
import { ReportReader } from "../wire/report-reader.js";
import { ReportError } from "./errors.js";

/** Takes the body of one answer, and knows what became of it. */
export class RowSink implements Sink {
  readonly #reader: ReportReader;
  readonly #taker: RowTaker;
  #thrown: unknown;
  #threw = false;
  bytes = 0;
  /** It was given up because nothing more came. */
  silent = false;

  constructor(host: Pick<Host, "decode">, rowBytes: number, taker: RowTaker) {
    this.#reader = new ReportReader(host, rowBytes, taker);
    this.#taker = taker;
  }

  begin(): boolean {
    return true;
  }

  fragment(piece: Uint8Array): boolean {
    this.bytes += piece.length;
    try {
      const good = this.#reader.feed(piece);
      this.#taker.received?.(this.bytes);
      return good;
    } catch (error) {
      this.#threw = true;
      this.#thrown = error;
      return false;
    }
  }

  /** The answer is over: what it came to. Throws if it was no whole report. */
  finish(): { rows: number; bytes: number } {
    if (!this.#reader.end()) throw this.#flawed();
    return { rows: this.#reader.rows, bytes: this.bytes };
  }

  /** What to throw for an answer that was not seen to its end. */
  lost(reason: string, late: boolean): unknown {
    if (this.#threw) return this.#thrown;
    if (this.#reader.flaw !== undefined) return this.#flawed();
    const got = this.bytes === 0 ? "" : ` after ${this.#reader.rows} rows`;
    if (this.silent) return new ReportError("TIMEOUT", `report: the answer fell silent${got}`);
    return late
      ? new ReportError("TIMEOUT", `report: not over before the deadline${got}`)
      : new ReportError("LOST", `report: ${reason}${got}`);
  }

  #flawed(): ReportError {
    const row = this.#reader.rows + 1;
    switch (this.#reader.flaw) {
      case "too large":
        return new ReportError(
          "TOO_LARGE",
          `report: row ${row}, or the list of labels, is larger than allowed`,
        );
      case "given up":
        return new ReportError("STOPPED", "report: given up by its taker");
      default:
        return new ReportError("MALFORMED", `report: the answer is no report, or breaks off (row ${row})`);
    }
  }
}
