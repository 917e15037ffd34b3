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

  /**
   * Waits until all bytes are accepted, so that no log line gets in between. Gives up without a
   * reader.
   */
  write(bytes: Uint8Array): void {
    const late = this._clock.now() + WHOLE_MS;
    let at = 0;
    for (let tries = 0; at < bytes.length && tries < MOST_TRIES && this._clock.now() < late; tries++) {
      const part = bytes.subarray(at, at + ROOM);
      this._buffer.set(part);
      at += this._usb.mote_usb_write(this._buffer.buffer, part.length);
    }
  }

  close(): void {
    this._cancel();
  }

  private _poll(): boolean {
    let count = this._usb.mote_usb_read(this._buffer.buffer);
    if (count < 0) return false;
    this._cancel = this._clock.timer(this._pollMs, () => this._poll());
    for (; count > 0; count = this._usb.mote_usb_read(this._buffer.buffer))
      this._received(this._buffer.slice(0, count));
    return true;
  }
}
