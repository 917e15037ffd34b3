// The body of a request that comes in chunks, as the web server under the platform (Tomcat) takes it apart.

/** What is wrong with a chunk; the message is the server's. */
export class ChunkError extends Error {
  override name = "ChunkError";
}

const [LF, CR, SEMICOLON] = [0x0a, 0x0d, 0x3b] as const;
const LONGEST_EXTENSION = 8_192;
const LONGEST_TRAILER = 8_192;
const HEADER = "Invalid chunk header";

type State = "size" | "extension" | "size end" | "data" | "data end" | "trailer" | "end";

export class ChunkReader {
  #state: State = "size";
  #size = 0;
  #digits = 0;
  #extension = 0;
  #trailer = 0;
  #lineLength = 0;
  #cr = false;

  get isDone(): boolean {
    return this.#state === "end";
  }

  /** Takes bytes from the front; the data in them goes to `deliver`. The result is how many it took. Throws ChunkError. */
  take(bytes: Uint8Array, deliver: (data: Uint8Array) => void): number {
    let at = 0;
    while (at < bytes.length && this.#state !== "end") {
      if (this.#state === "data") {
        const data = bytes.subarray(at, at + this.#size);
        deliver(data);
        at += data.length;
        this.#size -= data.length;
        if (this.#size === 0) this.#state = "data end";
      } else {
        this.#sign(bytes[at++] as number);
      }
    }
    return at;
  }

  #sign(sign: number): void {
    if (this.#state === "size") this.#sizeSign(sign);
    else if (this.#state === "extension") this.#extensionSign(sign);
    else if (this.#state === "trailer") this.#trailerSign(sign);
    else if (this.#lineEnd(sign)) this.#state = this.#state === "data end" ? this.#restart() : this.#begun();
  }

  #sizeSign(sign: number): void {
    if (sign === CR || sign === LF) {
      this.#state = "size end";
      if (this.#lineEnd(sign)) this.#state = this.#begun();
      return;
    }
    if (sign === SEMICOLON) {
      this.#state = "extension";
      return;
    }
    const digit = Number.parseInt(String.fromCharCode(sign), 16);
    if (Number.isNaN(digit) || this.#digits >= 8) throw new ChunkError(HEADER);
    this.#digits++;
    this.#size = this.#size * 16 + digit;
  }

  #extensionSign(sign: number): void {
    if (sign === CR) {
      this.#state = "size end";
      this.#cr = true;
    } else if (sign === LF || ++this.#extension > LONGEST_EXTENSION) throw new ChunkError(HEADER);
  }

  /** Empty line: the body is over. */
  #trailerSign(sign: number): void {
    if (++this.#trailer > LONGEST_TRAILER) throw new ChunkError("maxTrailerSize exceeded");
    if (sign === LF) {
      if (this.#lineLength === 0) this.#state = "end";
      this.#lineLength = 0;
    } else if (sign !== CR) this.#lineLength++;
  }

  #lineEnd(sign: number): boolean {
    if (sign === CR) {
      if (this.#cr) throw new ChunkError("Invalid end of line sequence (CRCR)");
      this.#cr = true;
      return false;
    }
    if (sign !== LF)
      throw new ChunkError("Invalid end of line sequence (character other than CR or LF found)");
    if (!this.#cr) throw new ChunkError("Invalid end of line sequence (No CR before LF)");
    this.#cr = false;
    return true;
  }

  /** The size has been read. */
  #begun(): State {
    if (this.#digits === 0 || this.#size >= 2 ** 31) throw new ChunkError(HEADER);
    return this.#size === 0 ? "trailer" : "data";
  }

  #restart(): State {
    this.#size = 0;
    this.#digits = 0;
    this.#extension = 0;
    return "size";
  }
}
