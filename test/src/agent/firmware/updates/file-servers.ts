// File servers beside the platform, on the same in-memory sockets: with ranges or without, with
// redirects, and with everything that can go wrong.
import { type SeenRequest, serve } from "../../../../fakes/server.js";
import { sha256 } from "../machine.js";
import { Lamp, type LampOptions } from "./lamp.js";

export const HOST = "files.test";
export const URL_2 = `https://${HOST}/lamp/2.0.0.bin?key=s3cret`;

/** What the servers do with a request for a file. */
export interface Manners {
  ranges?: boolean;
  etag?: string;
  /** The value of Content-Encoding. */
  coding?: string;
  /** No Content-Length: the end of the connection is the end of the file. */
  hidesLength?: boolean;
  /** The connection breaks when so many bytes were sent in all. */
  drops?: number[];
  /** By path (with its query): an answer in place of the file. */
  answers?: Record<string, { status: number; headers?: Record<string, string> }>;
  /** Over any host: the first so many requests get this status. */
  busy?: { status: number; times: number };
}

const RANGE = /^bytes=(\d+)-(\d+)$/;

export class Files {
  readonly lamp: Lamp;
  readonly manners: Manners;
  image: Uint8Array;
  /** Bytes of the file that were sent. */
  sent = 0;
  readonly seen: (SeenRequest & { host: string; secure: boolean })[] = [];

  constructor(options: LampOptions, manners: Manners = {}, size = 20_000) {
    this.lamp = new Lamp(options);
    this.manners = manners;
    this.image = this.lamp.image("2.0.0", size);
    const { net } = this.lamp.machine;
    const platform = net.onConnect;
    serve(net, (request) => {
      this.seen.push({ ...request, host: request.peer.name, secure: request.peer.secure });
      this.#answer(request);
    });
    const files = net.onConnect;
    net.onConnect = (peer) => (peer.name.startsWith(HOST) ? files?.(peer) : platform?.(peer));
  }

  /** Assigns a package that lies at `url`; the platform says `more` of it. */
  assign(
    url = URL_2,
    more: { size?: number; checksum?: string; algorithm?: "SHA256" | "MD5" } = this.all,
  ): void {
    const { profileId } = this.lamp.device;
    const made = this.lamp.platform.core.packages.create({
      title: "lamp",
      version: "2.0.0",
      tag: undefined,
      url,
      profileId,
    });
    this.lamp.assign(Object.assign(made, more));
  }

  get all(): { size: number; checksum: string; algorithm: "SHA256" } {
    return { size: this.image.length, checksum: sha256(this.image), algorithm: "SHA256" };
  }

  #answer(request: SeenRequest): void {
    const { answers = {}, busy } = this.manners;
    if (busy && busy.times > 0) {
      busy.times--;
      request.reply(busy.status);
      return;
    }
    const other = answers[request.path];
    if (other) {
      request.reply(other.status, "moved", other.headers ?? {});
      return;
    }
    this.#hand(request);
  }

  #hand(request: SeenRequest): void {
    const { etag, coding, ranges = true, hidesLength } = this.manners;
    const [, from, to] = (ranges && RANGE.exec(request.headers.range ?? "")) || [];
    const bytes = from === undefined ? this.image : this.image.subarray(Number(from), Number(to) + 1);
    const lines = [`HTTP/1.1 ${from === undefined ? "200 OK" : "206 Partial Content"}`];
    if (!hidesLength) lines.push(`Content-Length: ${bytes.length}`);
    if (from !== undefined) lines.push(`Content-Range: bytes ${from}-${to}/${this.image.length}`);
    if (etag !== undefined) lines.push(`ETag: ${etag}`);
    if (coding !== undefined) lines.push(`Content-Encoding: ${coding}`);
    request.peer.send(`${lines.join("\r\n")}\r\n\r\n`);
    this.#send(request, bytes, hidesLength === true);
  }

  #send({ peer }: SeenRequest, bytes: Uint8Array, ends: boolean): void {
    const { drops = [] } = this.manners;
    for (let at = 0; at < bytes.length; at += 1024) {
      const next = drops[0] ?? Number.POSITIVE_INFINITY;
      const piece = bytes.subarray(at, Math.min(at + 1024, at + next - this.sent));
      peer.send(piece);
      this.sent += piece.length;
      if (this.sent === next) {
        drops.shift();
        peer.reset();
        return;
      }
    }
    if (ends) peer.end();
  }
}
