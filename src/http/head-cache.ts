// A platform sends the same head with answer after answer, but for its date. To see that by comparing texts takes the engine of a board a twentieth of what
// it takes to read the head again.
import type { Host } from "../port.js";
import { DATE_BYTES, parseDate, parseUsualDate } from "./date.js";
import type { Head } from "./head.js";

/** As servers write it; who writes it otherwise has its heads read again. */
const DATE = "\nDate: ";
const SMALL = "\ndate: ";

/** The head that was read last, as far as it came in one piece and is ASCII. */
export class HeadCache {
  private readonly _host: Pick<Host, "decode">;
  /** 0: none. */
  private _length = 0;
  /** All of it but its last date: what is kept twice takes a board 400 bytes. */
  private _before = "";
  private _date = "";
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
    // Of several the last counts.
    const at = Math.max(text.lastIndexOf(DATE), text.lastIndexOf(SMALL)) + DATE.length;
    const date = parseDate(bytes, from + at, from + at + DATE_BYTES);
    const dated = at >= DATE.length && date !== undefined && date === head.date;
    this._before = dated ? text.slice(0, at) : text;
    this._date = dated ? text.slice(at, at + DATE_BYTES) : "";
    this._after = dated ? text.slice(at + DATE_BYTES) : "";
  }

  /** Whether the bytes `from` to `to` begin with it, whatever the date. Returns its end, or -1; `head`, which was not changed since, gets the date. */
  end(bytes: Uint8Array, from: number, to: number, head: Head): number {
    const end = from + this._length;
    if (this._length === 0 || end > to) return -1;
    const text = this._host.decode(bytes.subarray(from, end));
    if (!text?.startsWith(this._before) || !text.endsWith(this._after)) return -1;
    const { length } = this._before;
    const date = text.slice(length, length + this._date.length);
    // Within a second it is the same, and `head` has it.
    if (date === this._date) return end;
    this._date = date;
    head.date = parseUsualDate(date) ?? parseDate(bytes, from + length, from + length + DATE_BYTES);
    return head.date === undefined ? -1 : end;
  }
}
