// Frames of Improv Serial, protocol version 1 (improv-wifi.com/serial). A frame consists of
// "IMPROV", version, kind, length, data and checksum.
import type { Clock } from "../../src/port.js";

export const STATE = 1;
export const ERROR = 2;
export const COMMAND = 3;
export const RESULT = 4;

/** "IMPROV" and the version. */
const HEADER = new Uint8Array([0x49, 0x4d, 0x50, 0x52, 0x4f, 0x56, 1]);
/** Offsets in a frame. */
const KIND = 7;
const LENGTH = 8;
const DATA = 9;
export const MOST_DATA = 255;
/** An incomplete frame is dropped after this time without bytes. */
const SILENCE_MS = 1000;
const NEWLINE = 0x0a;

/** Finds Improv frames among the bytes of a serial line. */
export class FrameReader {
  private readonly _clock: Pick<Clock, "now">;
  private readonly _frame: (kind: number, data: Uint8Array | undefined) => void;
  /** The frame that is being received; undefined until its header is complete. */
  private _bytes: Uint8Array | undefined;
  private _length = 0;
  private _last = 0;

  /** `frame`: called per frame; `data` is undefined if the checksum is wrong. */
  constructor(clock: Pick<Clock, "now">, frame: (kind: number, data: Uint8Array | undefined) => void) {
    this._clock = clock;
    this._frame = frame;
  }

  feed(bytes: Uint8Array): void {
    const now = this._clock.now();
    if (now - this._last > SILENCE_MS && this._bytes) this._begin();
    this._last = now;
    for (const byte of bytes) {
      if (this._bytes) {
        if (this._take(this._bytes, byte)) this._end(this._bytes);
      } else if (byte !== HEADER[this._length]) this._length = byte === HEADER[0] ? 1 : 0;
      else if (++this._length === HEADER.length) this._bytes = new Uint8Array(DATA + MOST_DATA + 1);
    }
  }

  private _begin(): void {
    this._bytes = undefined;
    this._length = 0;
  }

  /** True if the frame is complete. */
  private _take(frame: Uint8Array, byte: number): boolean {
    frame[this._length++] = byte;
    return this._length > LENGTH && this._length === DATA + (frame[LENGTH] as number) + 1;
  }

  private _end(frame: Uint8Array): void {
    const end = this._length - 1;
    frame.set(HEADER);
    this._begin();
    const isWhole = frame[end] === sum(frame, end);
    this._frame(frame[KIND] as number, isWhole ? frame.slice(DATA, end) : undefined);
  }
}

/**
 * Builds a frame, between line feeds because clients expect it on a line of its own. `data`: at
 * most 255 bytes.
 */
export const writeFrame = (kind: number, data: ArrayLike<number>): Uint8Array => {
  const bytes = new Uint8Array(DATA + data.length + 3);
  const frame = bytes.subarray(1);
  const end = DATA + data.length;
  bytes[0] = NEWLINE;
  frame.set(HEADER);
  frame[KIND] = kind;
  frame[LENGTH] = data.length;
  frame.set(data, DATA);
  frame[end] = sum(frame, end);
  frame[end + 1] = NEWLINE;
  return bytes;
};

const sum = (bytes: Uint8Array, end: number): number => {
  let all = 0;
  for (let i = 0; i < end; i++) all += bytes[i] as number;
  return all & 0xff;
};
