/** One message as `LENGTH:KIND BYTES,` (without the space). */
export function netstring(kind: string, bytes: Uint8Array): Buffer {
  const head = `${bytes.length + 1}:${kind}`;
  const whole = Buffer.allocUnsafe(head.length + bytes.length + 1);
  whole.write(head, "latin1");
  whole.set(bytes, head.length);
  whole[whole.length - 1] = 44;
  return whole;
}

/** Cuts a stream into messages. */
export class Netstrings {
  readonly #each: (message: Buffer) => void;
  #kept: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #size = 0;
  #need = 0;

  constructor(each: (message: Buffer) => void) {
    this.#each = each;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    // A long message arrives in many chunks: they are put together once, when the last one is here.
    if (this.#size < this.#need) return;
    this.#kept = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    while (this.#cut());
    this.#parts = this.#kept.length > 0 ? [this.#kept] : [];
    this.#size = this.#kept.length;
  }

  /** Hands out the message at the front, if it is all there. */
  #cut(): boolean {
    this.#need = 0;
    const colon = this.#kept.indexOf(58);
    if (colon < 0) return false;
    const length = Number(this.#kept.toString("latin1", 0, colon));
    const end = colon + 1 + length;
    if (!Number.isSafeInteger(length) || (this.#kept.length > end && this.#kept[end] !== 44)) {
      throw new Error("the engine's pipe carries something else than netstrings");
    }
    if (this.#kept.length < end + 1) {
      this.#need = end + 1;
      return false;
    }
    const message = this.#kept.subarray(colon + 1, end);
    this.#kept = this.#kept.subarray(end + 1);
    this.#each(message);
    return true;
  }
}
