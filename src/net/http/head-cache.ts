// A platform sends the same head with answer after answer, but for its date. To see that by comparing texts takes the engine of a board a twentieth of what
// it takes to read the head again.
import type { Host } from "../../port.js";
import { DATE_BYTES, parseDate } from "./date.js";
import type { Head } from "./head.js";

/** As servers write it; who writes it otherwise has its heads read again. */
const DATE = "\nDate: ";
const SMALL = "\ndate: ";

/** The head that was read last, as far as it came in one piece and is ASCII. */
export class HeadCache {
  private readonly _host: Pick<Host, "decode">;
  /** 0: none. */
  private _length = 0;
  /** With its last date. */
  private _text = "";
  private _before = "";
  private _after = "";

  constructor(host: Pick<Host, "decode">) {
    this._host = host;
  }

  forget(): void {
    this._length = 0;
  }

  /** `head` lies `from` to `to`. */
  learn(bytes: Uint8Array, from: number, to: number, head: Head): void {
    if (head.status < 200) return;
    const text = this._host.decode(bytes.subarray(from, to));
    if (text?.length !== to - from) return;
    this._length = text.length;
    this._text = text;
    // Of several the last counts.
    const at = Math.max(text.lastIndexOf(DATE), text.lastIndexOf(SMALL)) + DATE.length;
    const date = parseDate(bytes, from + at, from + at + DATE_BYTES);
    const dated = at >= DATE.length && date !== undefined && date === head.date;
    this._before = dated ? text.slice(0, at) : text;
    this._after = dated ? text.slice(at + DATE_BYTES) : "";
  }

  /** Whether the bytes `from` to `to` begin with it, whatever the date. Returns its end, or -1; `head`, which was not changed since, gets the date. */
  end(bytes: Uint8Array, from: number, to: number, head: Head): number {
    const end = from + this._length;
    if (this._length === 0 || end > to) return -1;
    const text = this._host.decode(bytes.subarray(from, end));
    if (text === undefined) return -1;
    // Within a second the date is the same, and `head` has it.
    if (text === this._text) return end;
    const before = this._before;
    if (before.length === this._length) return -1;
    if (text.slice(0, before.length) !== before || text.slice(before.length + DATE_BYTES) !== this._after)
      return -1;
    const date = from + before.length;
    head.date = parseDate(bytes, date, date + DATE_BYTES);
    this._text = text;
    return head.date === undefined ? -1 : end;
  }
}
