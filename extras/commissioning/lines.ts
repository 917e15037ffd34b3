import type { Host } from "../../src/port.js";

/** Room for a command with a certificate in base64 on one line. */
const LONGEST = 3200;
const BACKSPACE = 0x08;
const DELETE = 0x7f;
const LF = 0x0a;
const CR = 0x0d;
const ESCAPE = 0x1b;
const BLANK = 0x20;
const TAB = 0x09;

/** Assembles lines from typed bytes. Drops a line that is too long or invalid UTF-8. */
export class LineReader {
  private readonly _text: Pick<Host, "decode">;
  private readonly _line: (text: string | undefined) => void;
  private _bytes = new Uint8Array(64);
  private _length = 0;
  private _isLost = false;
  private _wasCr = false;

  /** `line`: called per line, with undefined for a dropped one. */
  constructor(text: Pick<Host, "decode">, line: (text: string | undefined) => void) {
    this._text = text;
    this._line = line;
  }

  feed(bytes: Uint8Array): void {
    for (const byte of bytes) this._take(byte);
  }

  private _take(byte: number): void {
    const isEnd = byte === CR || (byte === LF && !this._wasCr);
    this._wasCr = byte === CR;
    if (isEnd) this._end();
    else if (byte === BACKSPACE || byte === DELETE) this._back();
    else if (byte === ESCAPE) this._isLost = true;
    else if (byte >= BLANK || byte === TAB) this._push(byte);
  }

  private _end(): void {
    const text = this._isLost ? undefined : this._text.decode(this._bytes.subarray(0, this._length));
    // The typed text may be a secret, so do not keep its bytes.
    this._bytes = new Uint8Array(64);
    this._length = 0;
    this._isLost = false;
    this._line(text);
  }

  /** Removes the last character, which may have several bytes. */
  private _back(): void {
    while (this._length > 0) {
      this._length--;
      if (((this._bytes[this._length] as number) & 0xc0) !== 0x80) return;
    }
  }

  private _push(byte: number): void {
    if (this._length === LONGEST) {
      this._isLost = true;
      return;
    }
    if (this._length === this._bytes.length) {
      const larger = new Uint8Array(this._length * 2);
      larger.set(this._bytes);
      this._bytes = larger;
    }
    this._bytes[this._length++] = byte;
  }
}
