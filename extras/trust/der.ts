// DER as used in certificates: definite lengths, tags of one byte. Anything else is rejected.

/** Invalid DER. The message is for people. */
export class DerError extends Error {
  // No field: XS lets no constructor assign it, as the name of all errors is frozen.
  override get name(): string {
    return "DerError";
  }
}

/** One element: tag, content, and its end in the input. */
export interface Element {
  readonly tag: number;
  readonly contents: Uint8Array;
  /** The element with its tag and length. */
  readonly whole: Uint8Array;
}

export const TAG = {
  integer: 0x02,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  /** Of a certificate; absent in version 1. */
  version: 0xa0,
} as const;

/** Reads consecutive elements of `bytes` without copying or changing them. */
export class DerReader {
  private readonly _bytes: Uint8Array;
  private _at = 0;

  constructor(bytes: Uint8Array) {
    this._bytes = bytes;
  }

  get done(): boolean {
    return this._at >= this._bytes.length;
  }

  /** The tag of the next element; undefined at the end. */
  get tag(): number | undefined {
    return this._bytes[this._at];
  }

  /** The next element, which must have `tag` if given. Throws DerError. */
  next(tag?: number): Element {
    const start = this._at;
    const found = this._byte();
    if ((found & 0x1f) === 0x1f) throw new DerError("a tag of more than a byte");
    if (tag !== undefined && found !== tag) throw new DerError(`tag ${found}, not ${tag}`);
    const length = this._length();
    if (length > this._bytes.length - this._at) throw new DerError("longer than its container");
    const contents = this._bytes.subarray(this._at, this._at + length);
    this._at += length;
    return { tag: found, contents, whole: this._bytes.subarray(start, this._at) };
  }

  /** The next element if it has `tag`. */
  optional(tag: number): Element | undefined {
    return this.tag === tag ? this.next() : undefined;
  }

  /** Throws DerError if elements remain. */
  end(): void {
    if (!this.done) throw new DerError("more than there should be");
  }

  private _byte(): number {
    const byte = this._bytes[this._at++];
    if (byte === undefined) throw new DerError("ends early");
    return byte;
  }

  private _length(): number {
    const first = this._byte();
    if (first < 0x80) return first;
    const size = first & 0x7f;
    // Three bytes are enough for any certificate's length.
    if (size === 0 || size > 3) throw new DerError("a length of no use");
    let length = 0;
    for (let i = 0; i < size; i++) length = length * 256 + this._byte();
    if (length < 0x80 || length < 256 ** (size - 1)) throw new DerError("a length written too long");
    return length;
  }
}

/** The elements of a SEQUENCE. */
export const sequence = (bytes: Uint8Array): DerReader => {
  return new DerReader(new DerReader(bytes).next(TAG.sequence).contents);
};
