import type { OtaPackage, PackageType } from "../core/packages.js";
import type { Exchange } from "./exchange.js";
import { wrongNumber } from "./poll.js";
import { parseInteger } from "./query.js";

/** Checks `title`, `version`, `size` and `chunk`. */
export function bindPackage(exchange: Exchange): string | undefined {
  for (const name of ["title", "version"]) {
    if (exchange.parameter(name) === undefined)
      return `Required request parameter '${name}' for method parameter type String is not present`;
  }
  for (const name of ["size", "chunk"]) {
    const text = exchange.parameter(name) ?? "";
    if (text !== "" && parseInteger(text, 32) === undefined) return wrongNumber(name, "int", text);
  }
  return undefined;
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
  const size = parseInteger(exchange.parameter("size") ?? "", 32) ?? 0;
  const chunk = parseInteger(exchange.parameter("chunk") ?? "", 32) ?? 0;
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

const RANGE = /^bytes=([0-9]*)-([0-9]*)$/;

/** One `Range` is honoured; it counts from the beginning of the chunk. */
function answerBytes(exchange: Exchange, target: OtaPackage, bytes: Uint8Array): void {
  const { fileName = "firmware.bin", contentType = "application/octet-stream" } = target;
  const name = fileName.replace(/[^\x20-\x7e]/g, "_");
  const headers: Record<string, string> = {
    "Content-Disposition": `attachment;filename=${name}`,
    "x-filename": name,
    "Accept-Ranges": "bytes",
  };
  const [, from = "", to = ""] = RANGE.exec(exchange.request.headers.range ?? "") ?? [];
  if (from === "" && to === "") {
    exchange.answer(200, bytes, contentType, headers);
    return;
  }
  const first = from === "" ? Math.max(0, bytes.length - Number(to)) : Number(from);
  const last = from === "" || to === "" ? bytes.length - 1 : Math.min(Number(to), bytes.length - 1);
  if (first > last) {
    exchange.answer(416, "", undefined, { ...headers, "Content-Range": `bytes */${bytes.length}` });
    return;
  }
  headers["Content-Range"] = `bytes ${first}-${last}/${bytes.length}`;
  exchange.answer(206, bytes.subarray(first, last + 1), contentType, headers);
}
