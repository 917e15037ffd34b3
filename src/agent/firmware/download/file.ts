// An image on an external host (GET fw_url), requested by range if the server supports that. Only
// listed hosts are contacted, and none receives the access token. Up to five redirects are
// followed, but only to listed hosts and never from https to http.

import type { Connection } from "../../../http/connection.js";
import { exchange } from "../../../http/connection.js";
import type { FileHead } from "../../../http/file-head.js";
import type { Outcome } from "../../../http/outcome.js";
import { lost } from "../../../http/outcome.js";
import { parseUrl, resolveUrl, type Target } from "../../../http/target.js";
import type { PlatformSession } from "../../../platform/index.js";
import { fileProblem } from "../admission.js";
import { type Failed, failed } from "../failures.js";
import type { FirmwareOptions } from "../options.js";
import { type Receiver, type Source, STREAM_DEADLINE_MS } from "./source.js";

const REDIRECTS = 5;
const MOVED = [301, 302, 303, 307, 308];
const NOT_IN_FILE = 416;

export class File implements Source {
  private readonly _session: PlatformSession;
  private readonly _options: FirmwareOptions;
  private readonly _url: string;
  etag: string;
  /** URL after redirects. */
  private _at: string;
  private _connection: Connection | undefined;
  private _authority = "";

  constructor(session: PlatformSession, options: FirmwareOptions, url: string, etag: string) {
    this._session = session;
    this._options = options;
    this._url = url;
    this._at = url;
    this.etag = etag;
  }

  /** Sends a request and follows its redirects. */
  async request(from: number, to: number, receiver: Receiver): Promise<Outcome> {
    for (let hops = 0; this._session.running; hops++) {
      let moved: string | undefined;
      const head = (file: FileHead): boolean => {
        if (file.status === 200 || file.status === 206) return receiver.accepts(file, to);
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
        headers: [`Range: bytes=${from}-${to - 1}`],
        deadlineMs: STREAM_DEADLINE_MS,
        limit: 0,
        repeatable: true,
        sink: {
          head,
          announced: (length) => receiver.announced(length),
          fragment: (bytes) => receiver.fragment(bytes),
        },
      });
      if (moved === undefined) {
        // A redirect target may be valid only briefly, so the next attempt starts at the original
        // URL.
        if (outcome.kind !== "done") this._at = this._url;
        if (from > 0 && outcome.kind === "refused" && outcome.status === NOT_IN_FILE)
          receiver.isChanged = true;
        return outcome;
      }
      const problem = this._follow(moved, file.target, hops);
      if (problem !== undefined) {
        receiver.fail("redirect refused", problem);
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
    const problem = fileProblem(file.target, this._options);
    if (problem) return `${problem.failure}: ${file.target.authority}`;
    this._at = to;
    return undefined;
  }

  refusal(outcome: Outcome): Failed | undefined {
    if (outcome.kind === "done") return failed("wrong length");
    return outcome.kind === "refused" ? failed("download refused", outcome.status) : undefined;
  }

  hangUp(): void {
    this._connection?.close();
    this._connection = undefined;
  }

  private _connect(target: Target): Connection {
    const authority = `${target.secure} ${target.authority}`;
    if (!this._connection || authority !== this._authority)
      this._connection = this._session.connections.external(target);
    this._authority = authority;
    return this._connection;
  }
}
