// A platform sends the same head with answer after answer, but for its date. To see that by comparing texts takes the engine of a board a twentieth of what
// it takes to read the head anew.
import type { Host } from "../port.js";
import { DATE_BYTES, parseDate } from "./date.js";
import type { Head } from "./head.js";

const DATE = "\ndate: ";

/** The head that was read last, as far as it came in one piece and is ASCII. */
export class KnownHead {
  readonly #host: Pick<Host, "decode">;
  /** 0: none. */
  #length = 0;
  /** With its last date. */
  #text = "";
  #before = "";
  #after = "";

  constructor(host: Pick<Host, "decode">) {
    this.#host = host;
  }

  forget(): void {
    this.#length = 0;
  }

  /** `head` lies `from` to `to`. */
  learn(bytes: Uint8Array, from: number, to: number, head: Head): void {
    if (head.status < 200) return;
    const text = this.#host.decode(bytes.subarray(from, to));
    if (text?.length !== to - from) return;
    this.#length = text.length;
    this.#text = text;
    // Of several the last counts.
    const at = text.toLowerCase().lastIndexOf(DATE) + DATE.length;
    const date = parseDate(bytes, from + at, from + at + DATE_BYTES);
    const dated = at >= DATE.length && date !== undefined && date === head.date;
    this.#before = dated ? text.slice(0, at) : text;
    this.#after = dated ? text.slice(at + DATE_BYTES) : "";
  }

  /** Whether the bytes `from` to `to` begin with it, whatever the date. Returns its end, or -1; `head`, which was not changed since, gets the date. */
  end(bytes: Uint8Array, from: number, to: number, head: Head): number {
    const end = from + this.#length;
    if (this.#length === 0 || end > to) return -1;
    const text = this.#host.decode(bytes.subarray(from, end));
    if (text === undefined) return -1;
    // Within a second the date is the same, and `head` has it.
    if (text === this.#text) return end;
    const before = this.#before;
    if (before.length === this.#length) return -1;
    if (text.slice(0, before.length) !== before || text.slice(before.length + DATE_BYTES) !== this.#after)
      return -1;
    const date = from + before.length;
    head.date = parseDate(bytes, date, date + DATE_BYTES);
    this.#text = text;
    return head.date === undefined ? -1 : end;
  }
}
