import type { FileHead } from "./file-head.js";
import type { Sink } from "./request.js";

const NOTHING = new Uint8Array(0);
const FIRST_BYTES = 512;

/** Keeps the body of an answer up to a limit, or hands it on to a sink. */
export class Body {
  private _limit = 0;
  private _sink: Sink | undefined;
  private _bytes = NOTHING;
  private _used = 0;

  /** Of the next answer. `length` as far as it is known; nothing is set aside on the peer's word beyond 512 bytes. False: the sink gave up. */
  begin(
    limit: number,
    wanted: Sink | undefined,
    length: number | undefined,
    status: number,
    file: FileHead | undefined,
  ): boolean {
    const sink = status === 200 || (status === 206 && file) ? wanted : undefined;
    this._limit = limit;
    this._sink = sink;
    this._used = 0;
    if (file) {
      file.status = status;
      file.length = length;
      if (!guarded(() => wanted?.head?.(file) === true)) return false;
    }
    this._bytes = sink ? NOTHING : new Uint8Array(Math.min(limit, length ?? FIRST_BYTES, FIRST_BYTES));
    return !sink || guarded(() => sink.begin(length));
  }

  /** True if not one more byte is kept. */
  get full(): boolean {
    return !this._sink && this._used >= this._limit;
  }

  /** True if a body goes to a sink. */
  get streams(): boolean {
    return this._sink !== undefined;
  }

  /** Takes the bytes `from` to `to`. False if some are beyond the limit, or the sink gave up. */
  take(bytes: Uint8Array, from: number, to: number): boolean {
    const sink = this._sink;
    if (sink) {
      const piece = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
      return guarded(() => sink.fragment(piece));
    }
    const end = Math.min(to, from + this._limit - this._used);
    this._grow(this._used + end - from);
    this._bytes.set(bytes.subarray(from, end), this._used);
    this._used += end - from;
    return end === to;
  }

  /** The bytes kept, which the caller may keep on. */
  end(): Uint8Array {
    const bytes = this._used === this._bytes.length ? this._bytes : this._bytes.slice(0, this._used);
    this._bytes = NOTHING;
    this._sink = undefined;
    this._used = 0;
    return bytes;
  }

  private _grow(needed: number): void {
    if (needed <= this._bytes.length) return;
    const grown = new Uint8Array(Math.min(this._limit, Math.max(needed, this._bytes.length * 2)));
    grown.set(this._bytes);
    this._bytes = grown;
  }
}

const guarded = (call: () => boolean): boolean => {
  try {
    return call();
  } catch {
    return false;
  }
};
