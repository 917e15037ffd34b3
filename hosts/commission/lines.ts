import type { Host } from "../../src/port.js";

/** A certificate in base64 on one line, with its command. */
const LONGEST = 3200;
const [BACKSPACE, DELETE, LF, CR, ESCAPE, BLANK, TAB] = [0x08, 0x7f, 0x0a, 0x0d, 0x1b, 0x20, 0x09];

/** Lines out of bytes that somebody types. A line that is too long, or no UTF-8, is dropped whole. */
export class LineReader {
  readonly #text: Pick<Host, "decode">;
  readonly #line: (text: string | undefined) => void;
  #bytes = new Uint8Array(64);
  #length = 0;
  #isLost = false;
  #wasCr = false;

  /** `line`: called with each; undefined for one that was dropped. */
  constructor(text: Pick<Host, "decode">, line: (text: string | undefined) => void) {
    this.#text = text;
    this.#line = line;
  }

  feed(bytes: Uint8Array): void {
    for (const byte of bytes) this.#take(byte);
  }

  #take(byte: number): void {
    const isEnd = byte === CR || (byte === LF && !this.#wasCr);
    this.#wasCr = byte === CR;
    if (isEnd) this.#end();
    else if (byte === BACKSPACE || byte === DELETE) this.#back();
    else if (byte === ESCAPE) this.#isLost = true;
    else if (byte >= BLANK || byte === TAB) this.#push(byte);
  }

  #end(): void {
    const text = this.#isLost ? undefined : this.#text.decode(this.#bytes.subarray(0, this.#length));
    // What was typed may be a secret.
    this.#bytes = new Uint8Array(64);
    this.#length = 0;
    this.#isLost = false;
    this.#line(text);
  }

  /** A whole character. */
  #back(): void {
    while (this.#length > 0) {
      this.#length--;
      if (((this.#bytes[this.#length] as number) & 0xc0) !== 0x80) return;
    }
  }

  #push(byte: number): void {
    if (this.#length === LONGEST) {
      this.#isLost = true;
      return;
    }
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }
}
