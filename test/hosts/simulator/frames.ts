// What a test and its program in the simulator say to each other: messages of
// test/xs/guest/protocol.ts, each behind its length (4 bytes).
import { type Decoder, type Encoder, type Message, pack, unpack } from "../../xs/guest/protocol.js";

export const FRAME = {
  /** To the program. id, text = what to do, bytes = JSON of the arguments. */
  call: 1,
  /** From the program. id, a = 1 done, 0 failed; bytes = JSON of the value, or why. */
  answer: 2,
  /** Both ways: what a peer does or is asked to do. text = what, id, bytes. */
  peer: 3,
} as const;

export function frame(
  encoder: Encoder,
  op: number,
  id: number,
  a: number,
  text: string,
  bytes?: Uint8Array,
): Uint8Array {
  const message = new Uint8Array(pack(encoder, op, id, a, 0, text, bytes));
  const framed = new Uint8Array(4 + message.length);
  new DataView(framed.buffer).setUint32(0, message.length);
  framed.set(message, 4);
  return framed;
}

/** Puts frames together again. */
export class Frames {
  readonly #decoder: Decoder;
  #held = new Uint8Array(0);

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  *read(bytes: Uint8Array): Generator<Message> {
    const all = new Uint8Array(this.#held.length + bytes.length);
    all.set(this.#held);
    all.set(bytes, this.#held.length);
    let at = 0;
    while (all.length - at >= 4) {
      const length = new DataView(all.buffer).getUint32(at);
      if (all.length - at - 4 < length) break;
      // A copy: what comes later must not change what was handed out.
      yield unpack(this.#decoder, all.slice(at + 4, at + 4 + length).buffer, 0, length);
      at += 4 + length;
    }
    this.#held = all.slice(at);
  }
}
