import type { Clock } from "../../../src/port.js";
import type { Usb } from "./sdk-modules.js";

/** Bytes of one exchange with the chip. */
const ROOM = 64;
const LOOK_MS = 50;
/** For a running board: a frame needs an answer within a second. */
export const SELDOM_MS = 500;
/** A reader accepts 64 bytes per millisecond. */
const WHOLE_MS = 50;
const MOST_TRIES = 10_000;
/** Bytes beyond this limit that nobody reads are dropped. */
const MOST = 4096;
const NOTHING = new Uint8Array(0);

/**
 * The chip's native USB as a line. It has no events, so it is polled. Undefined on chips without
 * it.
 */
export class UsbLine {
  private readonly _usb: Usb;
  private readonly _clock: Pick<Clock, "timer" | "now">;
  private readonly _pollMs: number;
  private readonly _received: (bytes: Uint8Array) => void;
  private readonly _buffer = new Uint8Array(ROOM);
  private _waiting: Uint8Array = NOTHING;
  private _cancel: () => void = () => {};

  static open(
    usb: Usb,
    clock: Pick<Clock, "timer" | "now">,
    received: (bytes: Uint8Array) => void,
    lookMs = LOOK_MS,
  ): UsbLine | undefined {
    const line = new UsbLine(usb, clock, received, lookMs);
    return line._poll() ? line : undefined;
  }

  private constructor(
    usb: Usb,
    clock: Pick<Clock, "timer" | "now">,
    received: (bytes: Uint8Array) => void,
    lookMs: number,
  ) {
    this._usb = usb;
    this._clock = clock;
    this._received = received;
    this._pollMs = lookMs;
  }

  write(bytes: Uint8Array): void {
    const all = new Uint8Array(this._waiting.length + bytes.length);
    all.set(this._waiting);
    all.set(bytes, this._waiting.length);
    this._waiting = all.length > MOST ? bytes.subarray(-MOST) : all;
  }

  /**
   * Waits until all bytes are accepted, so that no log line gets in between. Gives up without a
   * reader.
   */
  writeWhole(bytes: Uint8Array): void {
    const late = this._clock.now() + WHOLE_MS;
    let at = 0;
    for (let tries = 0; at < bytes.length && tries < MOST_TRIES && this._clock.now() < late; tries++) {
      const part = bytes.subarray(at, at + ROOM);
      this._buffer.set(part);
      at += this._usb.mote_usb_write(this._buffer.buffer, part.length);
    }
  }

  close(): void {
    this._send();
    this._cancel();
  }

  private _poll(): boolean {
    let count = this._usb.mote_usb_read(this._buffer.buffer);
    if (count < 0) return false;
    this._cancel = this._clock.timer(this._pollMs, () => this._poll());
    for (; count > 0; count = this._usb.mote_usb_read(this._buffer.buffer))
      this._received(this._buffer.slice(0, count));
    this._send();
    return true;
  }

  private _send(): void {
    while (this._waiting.length > 0) {
      const part = this._waiting.subarray(0, ROOM);
      this._buffer.set(part);
      const taken = this._usb.mote_usb_write(this._buffer.buffer, part.length);
      this._waiting = this._waiting.subarray(taken);
      if (taken < part.length) return;
    }
  }
}
