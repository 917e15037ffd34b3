import type { Sink } from "../http/request.js";
import type { Host } from "../port.js";
import type { RowTaker } from "../wire/report.js";
import { ReportReader } from "../wire/report-reader.js";
import { ReportError } from "./errors.js";

/** Receives the body of one answer and judges it. */
export class RowSink implements Sink {
  private readonly _reader: ReportReader;
  private readonly _taker: RowTaker;
  private _thrown: unknown;
  private _threw = false;
  bytes = 0;
  private _silent = false;

  constructor(host: Pick<Host, "decode">, rowBytes: number, taker: RowTaker) {
    this._reader = new ReportReader(host, rowBytes, taker);
    this._taker = taker;
  }

  begin(): boolean {
    return true;
  }

  fragment(piece: Uint8Array): boolean {
    this.bytes += piece.length;
    try {
      const good = this._reader.feed(piece);
      this._taker.received?.(this.bytes);
      return good;
    } catch (error) {
      this._threw = true;
      this._thrown = error;
      return false;
    }
  }

  /** The answer is aborted because no more data comes. */
  markSilent(): void {
    this._silent = true;
  }

  /** The answer is complete: returns its result. Throws if it was not a complete report. */
  finish(): { rows: number; bytes: number } {
    if (!this._reader.end()) throw this._invalid();
    return { rows: this._reader.rows, bytes: this.bytes };
  }

  /** The error for an answer that was not read completely. */
  lost(reason: string, late: boolean): unknown {
    if (this._threw) return this._thrown;
    if (this._reader.problem !== undefined) return this._invalid();
    const got = this.bytes === 0 ? "" : ` after ${this._reader.rows} rows`;
    if (this._silent) return new ReportError("TIMEOUT", `report: no more data from the platform${got}`);
    return late
      ? new ReportError("TIMEOUT", `report: not complete within the time limit${got}`)
      : new ReportError("LOST", `report: ${reason}${got}`);
  }

  private _invalid(): ReportError {
    const row = this._reader.rows + 1;
    switch (this._reader.problem) {
      case "too large":
        return new ReportError(
          "TOO_LARGE",
          `report: row ${row}, or the list of labels, is larger than allowed`,
        );
      case "given up":
        return new ReportError("STOPPED", "report: aborted by the row taker");
      default:
        return new ReportError("MALFORMED", `report: the answer is malformed or incomplete (row ${row})`);
    }
  }
}
