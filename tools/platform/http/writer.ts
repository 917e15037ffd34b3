// An answer as the web server under the platform (Tomcat) puts it on the wire.

import type { DeviceResponse } from "../device/messages.js";
import type { Prepared } from "./prepared.js";

/** What of the request its answer hangs on. */
export type Asked = Pick<Prepared, "method" | "version" | "keepAlive" | "asksToKeep">;

/** After these the server closes the connection. */
const CLOSING = new Set([400, 408, 411, 413, 414, 500, 501, 503]);
export const KEEP_ALIVE = "timeout=60";
const USUAL: Asked = { method: "GET", version: "1.1", keepAlive: true, asksToKeep: false };
const END_OF_CHUNKS = Buffer.from("0\r\n\r\n");

export interface Written {
  readonly whole: Uint8Array;
  /** How much of it is the head. */
  readonly head: number;
  /** Whether the connection is over after it. */
  readonly closes: boolean;
}

export function write(answer: DeviceResponse, now: number, asked: Asked = USUAL): Written {
  const { status, reason = "", headers, chunked = false } = answer;
  const body = asked.method === "HEAD" ? answer.body.subarray(0, 0) : answer.body;
  if (asked.version === "0.9") return { whole: body, head: 0, closes: true };
  const isChunked = chunked && asked.version === "1.1";
  const closes =
    !asked.keepAlive || CLOSING.has(status) || headers.Connection === "close" || (chunked && !isChunked);
  const lines: string[] = [];
  const add = (name: string, value: string): void => void lines.push(`${name}: ${value}\r\n`);
  for (const [name, value] of Object.entries(headers)) {
    if (name === "Connection") continue;
    for (const item of typeof value === "string" ? [value] : value) add(name, item);
  }
  if (!chunked) add("Content-Length", String(answer.body.length));
  else if (isChunked && asked.method !== "HEAD") add("Transfer-Encoding", "chunked");
  if (headers.Date === undefined) add("Date", new Date(now).toUTCString());
  if (closes) add("Connection", "close");
  else if (asked.asksToKeep) {
    add("Keep-Alive", KEEP_ALIVE);
    add("Connection", "keep-alive");
  }
  const head = Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n`, "latin1");
  const parts = isChunked && asked.method !== "HEAD" ? chunksOf(body) : [body];
  return { whole: Buffer.concat([head, ...parts]), head: head.length, closes };
}

function chunksOf(body: Uint8Array): Uint8Array[] {
  if (body.length === 0) return [END_OF_CHUNKS];
  return [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n"), END_OF_CHUNKS];
}
