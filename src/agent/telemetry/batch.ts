import { BEFORE_BYTES, FRAME_BYTES, PointFrame } from "../../wire/telemetry.js";
import type { Timestamp } from "../../wire/timestamp.js";
import { BATCH_FRONT, type Outbox } from "../queue/outbox.js";
import { epochOf, GIVEN, kindOf, lengthOf, POINT_HEAD, readValue } from "../queue/record.js";
import type { EpochTime } from "../queue/stamps.js";

/** The body of one POST: the first waiting points. */
export interface Batch {
  readonly points: number;
  /** The number of the first point in it. */
  readonly number: number;
  /** The request body; valid until the next batch is built. */
  readonly body: Uint8Array;
  /** Number of points whose time stamp is a guess. */
  readonly guessed: number;
}

const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Writes the body of a batch point by point, in the outbox's buffer. Moves within one buffer are
 * native, the fastest way on XS.
 */
export class BatchBuilder {
  private readonly _outbox: Outbox;
  private readonly _frame: PointFrame;
  /** The platform stamps the points. */
  private readonly _isBare: boolean;

  constructor(outbox: Outbox) {
    this._outbox = outbox;
    this._frame = new PointFrame(outbox.bytes, outbox.front);
    this._isBare = outbox.settings.timestamps === "platform";
  }

  /**
   * Builds the body of the next request: at most `most` points. Undefined if nothing waits or the
   * first point's time stamp is unknown.
   */
  build(most: number): Batch | undefined {
    const { _outbox: outbox, _frame: frame } = this;
    const { bytes, words, stamps } = outbox;
    // Every point, including the first, has a comma before it.
    const start = outbox.front + BATCH_FRONT;
    const limit = start + outbox.settings.batchBytes;
    let to = start;
    let points = 0;
    let guessed = 0;
    let epoch = -1;
    let lastTick = -1;
    let time: EpochTime | undefined;
    outbox.rewind();
    while (points < most) {
      // A record is read to where its text lies at or behind its place in the body.
      const at = outbox.step(to + BEFORE_BYTES - POINT_HEAD, points === 0);
      if (at < 0) break;
      const value = readValue(words, at);
      const from = at + POINT_HEAD;
      const end = at + lengthOf(words, at);
      const isGiven = kindOf(words, at) === GIVEN;
      const isBare = this._isBare && !isGiven;
      const hasTick = !this._isBare && !isGiven;
      if (hasTick && epochOf(words, at) !== epoch) {
        const found = epochOf(words, at);
        // This may read to the buffer, and drop the oldest points to store the time.
        if (points === 0 && stamps.prepare(found, value)) {
          outbox.rewind();
          continue;
        }
        if (lastTick >= 0) stamps.use(epoch, lastTick);
        lastTick = -1;
        time = stamps.timeOf(found, value);
        epoch = found;
      }
      if (to + end - from + FRAME_BYTES > limit || (hasTick && !time)) {
        // Otherwise a search for its time may have overwritten it.
        if (points > 0) outbox.back(at);
        break;
      }
      if (isBare) bytes[to++] = COMMA;
      else to = frame.put(to, (hasTick && time ? time.start + value : value) as Timestamp);
      bytes.copyWithin(to, from, end);
      to += end - from;
      if (!isBare) bytes[to++] = CLOSE_BRACE;
      points++;
      if (!hasTick) continue;
      lastTick = value;
      if (time && value < time.exactFrom) guessed++;
    }
    if (lastTick >= 0) stamps.use(epoch, lastTick);
    if (points === 0) return undefined;
    return { points, number: outbox.first, body: bodyOf(bytes, start, to, points), guessed };
  }
}

/** An object for one point, an array for more. `HEAD_ROOM` bytes before it are free. */
const bodyOf = (bytes: Uint8Array, start: number, end: number, points: number): Uint8Array => {
  if (points === 1) return bytes.subarray(start + 1, end);
  bytes[start] = OPEN_BRACKET;
  bytes[end] = CLOSE_BRACKET;
  return bytes.subarray(start, end + 1);
};
