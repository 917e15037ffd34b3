// Recognizes a response head that equals the previous one except for its date. Comparing strings
// takes a board a twentieth of the steps of parsing: a point sent in batches costs 2,900 steps of
// the engine, and 3,280 without this.
import type { Host } from "../port.js";
import { DATE_BYTES, parseDate, parseDateText } from "./date.js";
import type { Gist, Head } from "./head.js";

/** The usual spellings. Heads with another spelling are parsed each time. */
const DATE = "\nDate: ";
const LOWER_DATE = "\ndate: ";

/** The last parsed head, if it came in one piece, is ASCII and says nothing unusual. */
export class HeadCache {
  private readonly _host: Pick<Host, "decode">;
  /** Length of the head; 0: none. */
  private _length = 0;
  /** The head without its last date, in parts: storing it twice would cost a board 400 bytes. */
  private _before = "";
  private _date = "";
  private _after = "";
  private _gist: Gist | undefined;
  private _time: number | undefined;

  constructor(host: Pick<Host, "decode">) {
    this._host = host;
  }

  clear(): void {
    this._length = 0;
  }

  /** Stores the head in bytes `from` to `to`. */
  learn(bytes: Uint8Array, from: number, to: number, head: Head): void {
    const { gist } = head;
    if (head.status < 200 || !gist) return;
    const text = this._host.decode(bytes.subarray(from, to));
    if (text?.length !== to - from) return;
    this._length = text.length;
    this._gist = gist;
    this._time = head.date;
    // The last of several dates counts.
    const at = Math.max(text.lastIndexOf(DATE), text.lastIndexOf(LOWER_DATE)) + DATE.length;
    const date = parseDate(bytes, from + at, from + at + DATE_BYTES);
    const dated = at >= DATE.length && date !== undefined && date === head.date;
    this._before = dated ? text.slice(0, at) : text;
    this._date = dated ? text.slice(at, at + DATE_BYTES) : "";
    this._after = dated ? text.slice(at + DATE_BYTES) : "";
  }

  /**
   * If the bytes begin with the stored head, `head` becomes it, with the date of the bytes; returns
   * its end. Otherwise -1.
   */
  recognize(bytes: Uint8Array, from: number, to: number, head: Head): number {
    const end = from + this._length;
    if (this._length === 0 || end > to || !this._gist) return -1;
    const text = this._host.decode(bytes.subarray(from, end));
    if (!text?.startsWith(this._before) || !text.endsWith(this._after)) return -1;
    const { length } = this._before;
    const date = text.slice(length, length + this._date.length);
    if (date !== this._date) {
      this._date = date;
      this._time = parseDateText(date);
      if (this._time === undefined) return -1;
    }
    head.restore(this._gist, this._time);
    return end;
  }
}
