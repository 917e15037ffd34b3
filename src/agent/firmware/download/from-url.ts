// An image on an external host: GET fw_url, by ranges where the server has them. Only listed hosts are asked, none of them ever learns
// the access token, and up to five redirects are followed as far as they lead to listed hosts, and not from https to http.

import type { Connection } from "../../../http/connection.js";
import { exchange } from "../../../http/connection.js";
import type { FileHead } from "../../../http/head.js";
import type { Outcome } from "../../../http/outcome.js";
import { lost } from "../../../http/outcome.js";
import type { Sink } from "../../../http/request.js";
import { parseUrl, resolveUrl, type Target } from "../../../http/target.js";
import type { PlatformSession } from "../../../platform/index.js";
import { refusedTarget } from "../admission.js";
import type { FirmwareOptions } from "../options.js";
import { type Failed, type ImageSink, type Source, STREAM_DEADLINE_MS } from "./source.js";

const REDIRECTS = 5;
const MEASURE_DEADLINE_MS = 60_000;
const MOVED = [301, 302, 303, 307, 308];

export class FromUrl implements Source {
  private readonly _session: PlatformSession;
  private readonly _options: FirmwareOptions;
  private readonly _chunkBytes: number;
  private readonly _url: string;
  /** Of the first answer. A part of a file with another ETag is refused. */
  private _etag: string | undefined;
  private _ranges = true;
  /** Where the redirects led. */
  private _at: string;
  private _connection: Connection | undefined;
  private _authority = "";
  /** The file was replaced, or the server has no ranges: all of it must come again. */
  restarted = false;
  /** What refused a redirect. */
  private _detour: string | undefined;
  readonly unanswered = "fileUnanswered";

  constructor(
    session: PlatformSession,
    options: FirmwareOptions,
    url: string,
    chunkBytes: number,
    etag: string | undefined,
  ) {
    this._session = session;
    this._options = options;
    this._url = url;
    this._at = url;
    this._chunkBytes = chunkBytes;
    this._etag = etag;
  }

  part(sink: ImageSink, done: (outcome: Outcome) => void): void {
    const { offset, end, size } = sink.writer;
    if (offset > 0 && !this._ranges) {
      this.restarted = true;
      done(lost("no ranges"));
      return;
    }
    // With fewer connections in small parts, as far as the server has ranges: records of TLS may have to stay small.
    const parts = this._session.mode !== 3 || end < size;
    const last = parts ? Math.min(offset + this._chunkBytes, end) : end;
    const taking: Sink = {
      head: (file) => this._fits(file, last, sink),
      begin: (length) => sink.begin(length),
      fragment: (bytes) => sink.fragment(bytes),
    };
    void this._get(`bytes=${offset}-${last - 1}`, taking, STREAM_DEADLINE_MS).then((outcome) => {
      if (offset > 0 && outcome.kind === "refused" && outcome.status === 416) this.restarted = true;
      done(outcome);
    });
  }

  /** The length of the file, as the server states it; 0 if it does not, or did not answer (`answered` is false then). */
  async measure(): Promise<{ size: number; answered: boolean; outcome: Outcome }> {
    let size = 0;
    let answered = false;
    const head = (file: FileHead): boolean => {
      answered = true;
      size = Math.max(0, file.status === 206 ? file.total : (file.length ?? 0));
      return false;
    };
    const sink: Sink = { head, begin: () => false, fragment: () => false };
    const outcome = await this._get("bytes=0-0", sink, MEASURE_DEADLINE_MS);
    return { size, answered, outcome };
  }

  failed(outcome: Outcome): Failed | undefined {
    if (this._detour !== undefined) return { failure: "redirect", detail: this._detour };
    if (outcome.kind === "done") return { failure: "short", detail: "" };
    return outcome.kind === "refused"
      ? { failure: "fileRefused", detail: String(outcome.status) }
      : undefined;
  }

  get etag(): string {
    return this._etag ?? "";
  }

  hangUp(): void {
    this._connection?.close();
    this._connection = undefined;
  }

  /** Whether the answer brings the bytes from the writer's offset on, of the file that the others came of. */
  private _fits(file: FileHead, last: number, sink: ImageSink): boolean {
    const { offset, end, size, resumable } = sink.writer;
    const all = file.status === 200;
    this._ranges = !all;
    const total = all ? file.length : file.total;
    const first = offset === 0 && resumable === 0;
    if (first) this._etag = file.etag;
    if (first && total !== undefined && total !== size) sink.failure = "length";
    else if (
      file.etag !== this._etag ||
      (all ? offset > 0 || end < size : file.from !== offset || total !== size)
    )
      this.restarted = true;
    sink.expect(all ? size : last - offset);
    return sink.failure === undefined && !this.restarted;
  }

  /** One request, and those that its redirects lead to. */
  private async _get(range: string, sink: Sink, deadlineMs: number): Promise<Outcome> {
    this._detour = undefined;
    for (let hops = 0; this._session.running; hops++) {
      let moved: string | undefined;
      const head = (file: FileHead): boolean => {
        if (file.status === 200 || file.status === 206) return sink.head?.(file) === true;
        if (!MOVED.includes(file.status)) return true;
        moved = file.location ?? "";
        return false;
      };
      const file = parseUrl(this._at);
      if (!file) return lost("no address");
      const outcome = await exchange(this._connect(file.target), {
        method: "GET",
        purpose: "firmware",
        path: file.path,
        headers: [`Range: ${range}`],
        deadlineMs,
        limit: 0,
        repeatable: true,
        sink: { ...sink, head },
      });
      if (moved === undefined) {
        // An address that a redirect led to may be good for a while only: the next try begins at the first one.
        if (outcome.kind !== "done") this._at = this._url;
        return outcome;
      }
      this._detour = this._follow(moved, file.target, hops);
      if (this._detour !== undefined) return outcome;
    }
    return lost("stopped");
  }

  /** Why the redirect is not followed, if it is not. */
  private _follow(location: string, from: Target, hops: number): string | undefined {
    const to = resolveUrl(this._at, location);
    const file = location === "" ? undefined : parseUrl(to);
    this._at = this._url;
    if (!file) return "no address";
    if (hops === REDIRECTS) return `more than ${REDIRECTS}`;
    if (from.secure && !file.target.secure && this._options.allowHttp !== true) return "from https to http";
    if (refusedTarget(file.target, this._options)) return "to a host that is not allowed";
    this._at = to;
    return undefined;
  }

  private _connect(target: Target): Connection {
    const authority = `${target.secure} ${target.authority}`;
    if (!this._connection || authority !== this._authority)
      this._connection = this._session.connections.external(target);
    this._authority = authority;
    return this._connection;
  }
}
