import type { OtaPackage } from "../core/ota/packages.js";
import type { Exchange } from "./exchange.js";
import { numberOf, wrongParameter } from "./numbers.js";

/** Checks `title`, `version`, `size` and `chunk`. */
export function bindPackage(exchange: Exchange): string | undefined {
  for (const name of ["title", "version"]) {
    if (exchange.parameter(name) === undefined)
      return `Required request parameter '${name}' for method parameter type String is not present`;
  }
  return wrongParameter(exchange, "size", "int") ?? wrongParameter(exchange, "chunk", "int");
}

/** The bytes of what is assigned, or of a part of it. */
export function readPackage(exchange: Exchange): void {
  const target = exchange.core.assigned(exchange.device);
  if (!target?.bytes) {
    exchange.answer(404);
    return;
  }
  if (exchange.parameter("title") !== target.title || exchange.parameter("version") !== target.version) {
    exchange.answer(400);
    return;
  }
  const size = numberOf(exchange, "size");
  const chunk = numberOf(exchange, "chunk");
  const bytes = part(target.bytes, size, chunk);
  if (bytes) answerBytes(exchange, target, bytes);
  else exchange.answer(500);
}

/** Empty past the end; undefined for an offset that overflows 32 bits. */
function part(bytes: Uint8Array, size: number, chunk: number): Uint8Array | undefined {
  if (size <= 0) return bytes;
  const offset = Math.imul(size, chunk);
  return offset < 0 ? undefined : bytes.subarray(offset, offset + size);
}

/** Ranges count from the beginning of the chunk. */
function answerBytes(exchange: Exchange, target: OtaPackage, bytes: Uint8Array): void {
  const { fileName = "firmware.bin", contentType = "application/octet-stream" } = target;
  const name = fileName.replace(/[^\x20-\x7e]/g, "_");
  const headers: Record<string, string> = {
    "Content-Disposition": `attachment;filename=${name}`,
    "x-filename": name,
    "Accept-Ranges": "bytes",
  };
  const { range } = exchange.request.headers;
  if (range === undefined) {
    exchange.answer(200, bytes, contentType, headers);
    return;
  }
  const part = rangeOf(range, bytes.length);
  if (!part) {
    // A server sends the whole image with its refusal.
    exchange.answer(416, bytes, contentType, { ...headers, "Content-Range": `bytes */${bytes.length}` });
    return;
  }
  const [from, to] = part;
  headers["Content-Range"] = `bytes ${from}-${to}/${bytes.length}`;
  exchange.answer(206, bytes.subarray(from, to + 1), contentType, headers);
}

/** First and last byte of a single range; undefined if it is not one, or lies outside. */
function rangeOf(header: string, length: number): [from: number, to: number] | undefined {
  const [, first, last, suffix] = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/.exec(header.trim()) ?? [];
  const from = first === undefined ? length - Math.min(Number(suffix), length) : Number(first);
  const to = Math.min(Number(last ?? length - 1), length - 1);
  return from <= to ? [from, to] : undefined;
}
