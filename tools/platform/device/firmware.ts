import { randomBytes } from "node:crypto";
import type { OtaPackage, PackageType } from "../core/ota/packages.js";
import { type ByteRange, rangesOf } from "../spring/ranges.js";
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
export function readPackage(exchange: Exchange, type: PackageType): void {
  if (!exchange.admit()) return;
  const target = exchange.core.assigned(exchange.device, type);
  if (!target?.bytes) {
    exchange.answer(404);
    return;
  }
  if (exchange.parameter("title") !== target.title || exchange.parameter("version") !== target.version) {
    exchange.answer(400);
    return;
  }
  const size = numberOf(exchange, "size", "int");
  const chunk = numberOf(exchange, "chunk", "int");
  const bytes = part(target.bytes, size, chunk);
  if (bytes) answerBytes(exchange, target, bytes);
  else exchange.answer(exchange.rules.badChunk);
}

/** Past the end there are no bytes, but there is an answer. Undefined below zero (the product has 32 bits). */
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
  const ranges = range === undefined ? [] : rangesOf(range, bytes.length);
  const [first, ...others] = ranges ?? [];
  if (!ranges) {
    // The real server sends the whole all the same.
    headers["Content-Range"] = `bytes */${bytes.length}`;
    exchange.answer(416, bytes, contentType, headers);
  } else if (!first) {
    exchange.answer(200, bytes, contentType, headers);
  } else if (others.length === 0) {
    headers["Content-Range"] = `bytes ${first.from}-${first.to}/${bytes.length}`;
    exchange.answer(206, bytes.subarray(first.from, first.to + 1), contentType, headers);
  } else {
    const parts = partsOf(bytes, ranges, contentType);
    exchange.answer(206, parts.body, parts.type, headers);
  }
}

/** Several ranges in one body. The real server states the length of the whole, and cuts off what goes beyond it. */
function partsOf(
  bytes: Uint8Array,
  ranges: readonly ByteRange[],
  contentType: string,
): { body: Uint8Array; type: string } {
  const boundary = randomBytes(18).toString("base64url");
  const pieces = ranges.flatMap(({ from, to }) => [
    Buffer.from(
      `\r\n--${boundary}\r\nContent-Type: ${contentType}\r\nContent-Range: bytes ${from}-${to}/${bytes.length}\r\n\r\n`,
    ),
    bytes.subarray(from, to + 1),
  ]);
  const whole = Buffer.concat([...pieces, Buffer.from(`\r\n--${boundary}--`)]);
  return { body: whole.subarray(0, bytes.length), type: `multipart/byteranges; boundary=${boundary}` };
}
