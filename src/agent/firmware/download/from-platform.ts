// Downloads an image from the platform: GET /api/v1/{token}/firmware?title=&version=&size=&chunk=
//
// The platform knows no offset, only `size` bytes from `size * chunk` on. From offset N,
// `size=N&chunk=1` continues with as many bytes again; so does a power of two that divides N. Past
// the end the platform answers 200 without a body. If its cache lost the file it answers 500
// without a body; after another assignment, 400 or 404.
import type { Outcome } from "../../../http/outcome.js";
import type { PlatformSession } from "../../../platform/index.js";
import { firmwarePath } from "../../../wire/paths.js";
import type { ImageWriter } from "./image-writer.js";
import { type Failed, type ImageSink, type Source, STREAM_DEADLINE_MS } from "./source.js";

const PART_DEADLINE_MS = 60_000;

/** The range to request at `offset` of an image of `end` bytes. Undefined: request all of it. */
export const nextPart = (
  offset: number,
  end: number,
  whole: boolean,
  chunkBytes: number,
): { size: number; chunk: number; bytes: number } | undefined => {
  if (whole && offset === 0) return undefined;
  let size = chunkBytes;
  if (whole) size = offset;
  // Lowest set bit: each next offset has more trailing zero bits, up to those of chunkBytes.
  else if (offset % chunkBytes !== 0) size = offset & -offset;
  return { size, chunk: offset / size, bytes: Math.min(size, end - offset) };
};

export class FromPlatform implements Source {
  private readonly _session: PlatformSession;
  private readonly _chunkBytes: number;
  private readonly _package: { readonly title: string; readonly version: string };
  readonly restarted = false;
  readonly etag = "";
  readonly length = 0;

  constructor(
    session: PlatformSession,
    wanted: { readonly title: string; readonly version: string },
    chunkBytes: number,
  ) {
    this._session = session;
    this._chunkBytes = chunkBytes;
    this._package = wanted;
  }

  request(sink: ImageSink, done: (outcome: Outcome) => void): void {
    const { offset, requestEnd: end, size } = sink.writer as ImageWriter;
    // Only with three connections does the image have its own. With fewer, request parts so that
    // others get a turn.
    const complete = end === size;
    const whole = this._session.connections.streams && complete;
    const part = nextPart(offset, end, whole, complete ? this._chunkBytes : Math.min(this._chunkBytes, end));
    sink.expect(part ? part.bytes : end);
    const path = firmwarePath(this._package.title, this._package.version, part);
    const deadlineMs = whole ? STREAM_DEADLINE_MS : PART_DEADLINE_MS;
    const request = { method: "GET", path, deadlineMs, limit: 0, repeatable: true, sink } as const;
    this._session.dispatch("firmware", request, undefined, done);
  }

  refusal(outcome: Outcome): Failed | undefined {
    if (outcome.kind === "done") return { failure: "length", detail: "" };
    // 403: the device was deleted, which says nothing about the image.
    if (outcome.kind !== "refused" || outcome.status === 403) return undefined;
    const { status } = outcome;
    return { failure: status === 400 || status === 404 ? "missing" : "refused", detail: String(status) };
  }

  hangUp(): void {
    this._session.connections.hangUp("firmware");
  }
}
