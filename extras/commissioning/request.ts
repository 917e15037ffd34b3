// Reads one HTTP request of an untrusted client, with limits of size. Anything that does not follow
// RFC 9112 exactly is rejected; nothing is guessed.

import { hostOf } from "../../src/http/target.js";
import type { Host } from "../../src/port.js";
import { characters, DIGITS, isMadeOf, lowerCase, VISIBLE } from "../../src/wire/text/characters.js";

export interface PageRequest {
  readonly method: string;
  /** Begins with "/"; the query was cut off. */
  readonly path: string;
  /** In lower case. */
  readonly host: string;
  readonly origin: string | undefined;
  /** The `Sec-Fetch-Site` that browsers send. */
  readonly site: string | undefined;
  readonly cookie: string;
  /** Without parameters, in lower case. */
  readonly type: string;
  readonly body: string;
}

const HEAD_BYTES = 4096;
/** A form with certificates, in which each letter may be escaped as three. */
const BODY_BYTES = 12_288;
const LONGEST_PATH = 1024;
const CR = 0x0d;
const LF = 0x0a;
const FIRST_BODY_ROOM = 512;

const VERSIONS = ["HTTP/1.0", "HTTP/1.1"];
/** Characters of a header name, of a header value, and of a method. */
const TOKEN = characters("azAZ09!!#'*+-.^`||~~");
const FIELD = characters(" ~\t\t");
const CAPITALS = characters("AZ");
const BREAK = "\r\n";

const WANTED = [
  "host",
  "origin",
  "sec-fetch-site",
  "cookie",
  "content-type",
  "content-length",
  "transfer-encoding",
  "expect",
] as const;
type Wanted = (typeof WANTED)[number];

/** Reads the one request of a connection. */
export class RequestReader {
  private readonly _text: Pick<Host, "decode">;
  private readonly _hasRoom: (bodyBytes: number) => boolean;
  /** The head, then the body. Grows with received bytes, not with the announced length. */
  private _bytes = new Uint8Array(256);
  private _length = 0;
  /** Number of bytes of the head's end (CR LF CR LF) received in a row. */
  private _ending = 0;
  private _body = -1;
  private _headers: { readonly [N in Wanted]?: string } = {};
  private _method = "";
  private _target = "";
  /** HTTP status that rejects the request; 0: none so far. */
  problem = 0;
  request: PageRequest | undefined;

  /** `hasRoom`: false if memory is short for a body of this length. */
  constructor(text: Pick<Host, "decode">, hasRoom: (bodyBytes: number) => boolean = () => true) {
    this._text = text;
    this._hasRoom = hasRoom;
  }

  get isOver(): boolean {
    return this.problem !== 0 || this.request !== undefined;
  }

  /** Length of the body that is being read. */
  get bodyBytes(): number {
    return this.isOver ? 0 : Math.max(0, this._body);
  }

  /** Ignores bytes after the request. */
  feed(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.isOver) return;
      if (this._body >= 0) this._inBody(byte);
      else this._inHead(byte);
    }
  }

  private _inHead(byte: number): void {
    if (this._length === HEAD_BYTES) {
      this.problem = 431;
      return;
    }
    this._push(byte);
    const isCr = this._ending % 2 === 0;
    if (byte === (isCr ? CR : LF)) this._ending++;
    else if (byte === CR || byte === LF || !isCr) this.problem = 400;
    else this._ending = 0;
    if (this._ending === 4) this._endHead();
  }

  private _endHead(): void {
    const text = this._text.decode(this._bytes.subarray(0, this._length - 4));
    this.problem = text === undefined ? 400 : this._readHead(text.split(BREAK));
    if (this.problem !== 0) return;
    const body = Number(this._headers["content-length"] ?? "0");
    if (body > 0 && !this._hasRoom(body)) {
      this.problem = 503;
      return;
    }
    this._body = body;
    this._bytes = new Uint8Array(Math.min(this._body, FIRST_BODY_ROOM));
    this._length = 0;
    if (this._body === 0) this._end("");
  }

  /** Reads the lines of the head. Returns the HTTP status that rejects it; 0: none. */
  private _readHead(lines: readonly string[]): number {
    const [method = "", target = "", version = "", ...more] = (lines[0] as string).split(" ");
    const isPath = target.startsWith("/") && isMadeOf(target, VISIBLE);
    if (!isMadeOf(method, CAPITALS, 10) || !isPath || !VERSIONS.includes(version) || more.length > 0)
      return 400;
    if (target.length > LONGEST_PATH) return 414;
    this._method = method;
    this._target = target;
    const headers: { [N in Wanted]?: string } = {};
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i] as string;
      const colon = line.indexOf(":");
      const value = line.slice(colon + 1);
      if (
        colon < 0 ||
        !isMadeOf(line.slice(0, colon), TOKEN, 64) ||
        (value !== "" && !isMadeOf(value, FIELD))
      )
        return 400;
      const name = lowerCase(line.slice(0, colon)) as Wanted;
      if (!WANTED.includes(name)) continue;
      // A header that occurs twice is ambiguous.
      if (headers[name] !== undefined) return 400;
      headers[name] = value.trim();
    }
    this._headers = headers;
    const { host, expect, "transfer-encoding": coded, "content-length": length } = headers;
    if (host === undefined || hostOf(lowerCase(host)) === undefined) return 400;
    if (coded !== undefined) return 501;
    if (expect !== undefined) return 417;
    if (length === undefined) return this._method === "POST" ? 411 : 0;
    if (!isMadeOf(length, DIGITS, 9)) return 400;
    return Number(length) > BODY_BYTES ? 413 : 0;
  }

  private _inBody(byte: number): void {
    this._push(byte);
    if (this._length < this._body) return;
    const body = this._text.decode(this._bytes.subarray(0, this._length));
    if (body === undefined) this.problem = 400;
    else this._end(body);
  }

  private _end(body: string): void {
    const {
      host = "",
      origin,
      "sec-fetch-site": site,
      cookie = "",
      "content-type": type = "",
    } = this._headers;
    this.request = {
      method: this._method,
      path: this._target.split("?")[0] as string,
      host: lowerCase(host),
      origin,
      site,
      cookie,
      type: lowerCase((type.split(";")[0] as string).trim()),
      body,
    };
  }

  private _push(byte: number): void {
    if (this._length === this._bytes.length) {
      const larger = new Uint8Array(this._length * 2);
      larger.set(this._bytes);
      this._bytes = larger;
    }
    this._bytes[this._length++] = byte;
  }
}
