// An image on the platform: GET /api/v1/{token}/firmware?title=&version=&size=&chunk=
//
// The platform knows no offset, only `size` bytes from `size * chunk` on. So a part begins at a
// multiple of its size, and the first parts after a break are short. Past the end the platform
// answers 200 without a body. If its cache lost the file it answers 500 without a body; after
// another assignment, 400 or 404.
import type { Outcome } from "../../../http/outcome.js";
import type { PlatformSession } from "../../../platform/index.js";
import { firmwarePath } from "../../../wire/paths.js";
import { type Failed, failed } from "../failures.js";
import { type Receiver, type Source, STREAM_DEADLINE_MS } from "./source.js";

const PART_DEADLINE_MS = 60_000;

export class Package implements Source {
  private readonly _session: PlatformSession;
  private readonly _wanted: { readonly title: string; readonly version: string };
  private readonly _chunkBytes: number;
  etag = "";

  constructor(
    session: PlatformSession,
    wanted: { readonly title: string; readonly version: string },
    chunkBytes: number,
  ) {
    this._session = session;
    this._wanted = wanted;
    this._chunkBytes = chunkBytes;
  }

  request(from: number, to: number, sink: Receiver): Promise<Outcome> {
    const { title, version } = this._wanted;
    const isWhole = from === 0 && this._session.connections.streams;
    // Lowest set bit: each next offset has more trailing zero bits, up to those of a chunk.
    const size = from % this._chunkBytes === 0 ? this._chunkBytes : from & -from;
    sink.expect(isWhole ? to : Math.min(to, from + size));
    const part = isWhole ? undefined : { size, chunk: from / size };
    const path = firmwarePath(title, version, part);
    const deadlineMs = isWhole ? STREAM_DEADLINE_MS : PART_DEADLINE_MS;
    const request = { method: "GET", path, deadlineMs, limit: 0, repeatable: true, sink } as const;
    return this._session.send("firmware", request);
  }

  refusal(outcome: Outcome): Failed | undefined {
    if (outcome.kind === "done") return failed("wrong length");
    // 403: the device was deleted, which says nothing about the image.
    if (outcome.kind !== "refused" || outcome.status === 403) return undefined;
    const { status } = outcome;
    return failed(status === 400 || status === 404 ? "no such package" : "download refused", status);
  }

  hangUp(): void {
    this._session.connections.hangUp("firmware");
  }
}
