// Reads one HTTP request of a stranger's, byte by byte and never more than it may have. What is not laid out exactly as RFC 9112 wants it is
// refused: nothing is guessed.
import type { Host } from "../../src/port.js";

export interface PageRequest {
  readonly method: string;
  /** Begins with "/"; the query was cut off. */
  readonly path: string;
  /** In lower case. */
  readonly host: string;
  readonly origin: string | undefined;
  /** The `Sec-Fetch-Site` that browsers send. */
  readonly site: string | undefined;
  /** Without parameters, in lower case. */
  readonly type: string;
  readonly body: string;
}

const HEAD_BYTES = 4096;
/** A form with certificates, each of whose letters may be written as three. */
const BODY_BYTES = 12_288;
const LONGEST_PATH = 1024;
const [CR, LF] = [0x0d, 0x0a];
const FIRST_BODY_ROOM = 512;

const LINE = /^([A-Z]{1,10}) (\/[!-~]*) HTTP\/1\.[01]$/;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}):([ -~\t]*)$/;
const LENGTH = /^\d{1,9}$/;
const AUTHORITY = /^[a-z0-9.\-_]+(?::\d{1,5})?$|^\[[0-9a-f:.]+\](?::\d{1,5})?$/;
const BREAK = "\r\n";

const WANTED = [
  "host",
  "origin",
  "sec-fetch-site",
  "content-type",
  "content-length",
  "transfer-encoding",
  "expect",
] as const;
type Wanted = (typeof WANTED)[number];

/** Of one connection: one request. */
export class RequestReader {
  readonly #text: Pick<Host, "decode">;
  /** The head, then the body; made larger as bytes come, not as they are promised. */
  #bytes = new Uint8Array(256);
  #length = 0;
  /** Of the head's four last bytes, how many have come in a row. */
  #ending = 0;
  #body = -1;
  #headers: { readonly [N in Wanted]?: string } = {};
  #method = "";
  #target = "";
  /** The status to refuse it with; 0 as long as there is no reason to. */
  flaw = 0;
  request: PageRequest | undefined;

  constructor(text: Pick<Host, "decode">) {
    this.#text = text;
  }

  get isOver(): boolean {
    return this.flaw !== 0 || this.request !== undefined;
  }

  /** What follows the request is not looked at. */
  feed(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.isOver) return;
      if (this.#body >= 0) this.#inBody(byte);
      else this.#inHead(byte);
    }
  }

  #inHead(byte: number): void {
    if (this.#length === HEAD_BYTES) {
      this.flaw = 431;
      return;
    }
    this.#push(byte);
    const isCr = this.#ending % 2 === 0;
    if (byte === (isCr ? CR : LF)) this.#ending++;
    else if (byte === CR || byte === LF || !isCr) this.flaw = 400;
    else this.#ending = 0;
    if (this.#ending === 4) this.#endHead();
  }

  #endHead(): void {
    const text = this.#text.decode(this.#bytes.subarray(0, this.#length - 4));
    this.flaw = text === undefined ? 400 : this.#readHead(text.split(BREAK));
    if (this.flaw !== 0) return;
    this.#body = Number(this.#headers["content-length"] ?? "0");
    this.#bytes = new Uint8Array(Math.min(this.#body, FIRST_BODY_ROOM));
    this.#length = 0;
    if (this.#body === 0) this.#end("");
  }

  /** 0, or the status to refuse it with. */
  #readHead(lines: readonly string[]): number {
    const line = LINE.exec(lines[0] as string);
    if (!line || (line[2] as string).length > LONGEST_PATH) return line ? 414 : 400;
    this.#method = line[1] as string;
    this.#target = line[2] as string;
    const headers: { [N in Wanted]?: string } = {};
    for (let i = 1; i < lines.length; i++) {
      const header = HEADER.exec(lines[i] as string);
      if (!header) return 400;
      const name = (header[1] as string).toLowerCase() as Wanted;
      if (!WANTED.includes(name)) continue;
      // Two of a kind: which one the next reader takes is anybody's guess.
      if (headers[name] !== undefined) return 400;
      headers[name] = (header[2] as string).trim();
    }
    this.#headers = headers;
    const { host, expect, "transfer-encoding": coded, "content-length": length } = headers;
    if (host === undefined || !AUTHORITY.test(host.toLowerCase())) return 400;
    if (coded !== undefined) return 501;
    if (expect !== undefined) return 417;
    if (length === undefined) return this.#method === "POST" ? 411 : 0;
    if (!LENGTH.test(length)) return 400;
    return Number(length) > BODY_BYTES ? 413 : 0;
  }

  #inBody(byte: number): void {
    this.#push(byte);
    if (this.#length < this.#body) return;
    const body = this.#text.decode(this.#bytes.subarray(0, this.#length));
    if (body === undefined) this.flaw = 400;
    else this.#end(body);
  }

  #end(body: string): void {
    const { host = "", origin, "sec-fetch-site": site, "content-type": type = "" } = this.#headers;
    this.request = {
      method: this.#method,
      path: this.#target.split("?")[0] as string,
      host: host.toLowerCase(),
      origin,
      site,
      type: (type.split(";")[0] as string).trim().toLowerCase(),
      body,
    };
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }
}
