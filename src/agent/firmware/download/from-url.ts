// Downloads an image from an external host (GET fw_url), with range requests if the server supports
// them. Only listed hosts are contacted, and none receives the access token. Up to five redirects
// are followed, but only to listed hosts and never from https to http.

import type { Connection } from "../../../http/connection.js";
import { exchange } from "../../../http/connection.js";
import type { FileHead } from "../../../http/file-head.js";
import type { Outcome } from "../../../http/outcome.js";
import { lost } from "../../../http/outcome.js";
import { parseUrl, resolveUrl, type Target } from "../../../http/target.js";
import type { PlatformSession } from "../../../platform/index.js";
import type { Failure } from "../failures.js";
import type { FirmwareOptions } from "../options.js";
import { fileTargetProblem } from "../origins.js";
import { type Failed, type ImageSink, type Source, STREAM_DEADLINE_MS } from "./source.js";

const REDIRECTS = 5;
const MOVED = [301, 302, 303, 307, 308];

export class FromUrl implements Source {
  private readonly _session: PlatformSession;
  private readonly _options: FirmwareOptions;
  private readonly _chunkBytes: number;
  private readonly _url: string;
  /** The ETag of the first answer. A part of a file with another ETag is rejected. */
  etag: string;
  private _ranges = true;
  /** URL after redirects. */
  private _at: string;
  private _connection: Connection | undefined;
  private _authority = "";
  /** The file was replaced or the server has no range support: start again. */
  restarted = false;
  length = 0;
  /** Why no answer of this server can help. */
  private _refusal: Failed | undefined;

  constructor(
    session: PlatformSession,
    options: FirmwareOptions,
    url: string,
    chunkBytes: number,
    etag: string,
  ) {
    this._session = session;
    this._options = options;
    this._url = url;
    this._at = url;
    this._chunkBytes = chunkBytes;
    this.etag = etag;
  }

  request(sink: ImageSink, done: (outcome: Outcome) => void): void {
    const { offset = 0, requestEnd: end = 1, size = 1 } = sink.writer ?? {};
    if (offset > 0 && !this._ranges) {
      this.restarted = true;
      done(lost("no ranges"));
      return;
    }
    // With fewer connections, request small parts if possible: TLS records may have to stay small.
    const parts = !this._session.connections.streams || end < size;
    const last = parts ? Math.min(offset + this._chunkBytes, end) : end;
    const head = (file: FileHead) => this._accepts(file, last, sink);
    void this._get(`bytes=${offset}-${last - 1}`, sink, head).then((outcome) => {
      if (offset > 0 && outcome.kind === "refused" && outcome.status === 416) this.restarted = true;
      done(outcome);
    });
  }

  refusal(outcome: Outcome): Failed | undefined {
    if (this._refusal) return this._refusal;
    if (outcome.kind === "done") return { failure: "length", detail: "" };
    return outcome.kind === "refused" ? { failure: "refused", detail: String(outcome.status) } : undefined;
  }

  hangUp(): void {
    this._connection?.close();
    this._connection = undefined;
  }

  /**
   * True if the answer continues the same file at the writer's offset. Without a writer, only its
   * length counts.
   */
  private _accepts(file: FileHead, last: number, sink: ImageSink): boolean {
    const { writer } = sink;
    const all = file.status === 200;
    const total = all ? file.length : file.total;
    if (file.isCoded) return this._refuse("fileCoded");
    if (!writer) {
      this.length = Math.max(0, total ?? 0);
      return this.length === 0 && this._refuse("fileLength");
    }
    const { offset, requestEnd: end, size, resumable } = writer;
    const first = offset === 0 && resumable === 0;
    this._ranges = !all;
    if (first) this.etag = file.etag ?? "";
    if (first && total !== undefined && total !== size) sink.failure = "length";
    else if (
      (file.etag ?? "") !== this.etag ||
      (all ? offset > 0 || end < size : file.from !== offset || total !== size)
    )
      this.restarted = true;
    sink.expect(all ? size : last - offset);
    return sink.failure === undefined && !this.restarted;
  }

  private _refuse(failure: Failure, detail = ""): false {
    this._refusal = { failure, detail };
    return false;
  }

  /** Sends one request and follows its redirects. */
  private async _get(range: string, sink: ImageSink, accepts: (file: FileHead) => boolean): Promise<Outcome> {
    for (let hops = 0; this._session.running; hops++) {
      let moved: string | undefined;
      const head = (file: FileHead): boolean => {
        if (file.status === 200 || file.status === 206) return accepts(file);
        if (!MOVED.includes(file.status)) return true;
        moved = file.location ?? "";
        return false;
      };
      const file = parseUrl(this._at);
      if (!file) return lost("no address");
      this._session.pacer("firmware").spend();
      const outcome = await exchange(this._connect(file.target), {
        method: "GET",
        path: file.path,
        headers: [`Range: ${range}`],
        deadlineMs: STREAM_DEADLINE_MS,
        limit: 0,
        repeatable: true,
        sink: {
          head,
          announced: (length) => sink.announced(length),
          fragment: (bytes) => sink.fragment(bytes),
        },
      });
      if (moved === undefined) {
        // A redirect target may be valid only briefly, so the next attempt starts at the original
        // URL.
        if (outcome.kind !== "done") this._at = this._url;
        return outcome;
      }
      const problem = this._follow(moved, file.target, hops);
      if (problem !== undefined) {
        this._refuse("redirect", problem);
        return outcome;
      }
    }
    return lost("stopped");
  }

  /** Why the redirect is not followed; undefined if it is. */
  private _follow(location: string, from: Target, hops: number): string | undefined {
    const to = resolveUrl(this._at, location);
    const file = location === "" ? undefined : parseUrl(to);
    this._at = this._url;
    if (!file) return "no address";
    if (hops === REDIRECTS) return `more than ${REDIRECTS}`;
    if (from.secure && !file.target.secure && this._options.allowHttp !== true) return "from https to http";
    const problem = fileTargetProblem(file.target, this._options);
    if (problem === "urlHost") return `to ${file.target.authority}, which firmware.urlHosts does not list`;
    if (problem) return `to ${file.target.authority} over http`;
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
