import type { DeviceResponse } from "./messages.js";

/** The parts of a request that decide how its answer is framed. */
export interface Asked {
  readonly method: string;
  /** False: the device, or the server's own limit, ends the connection after this answer. */
  readonly keepAlive: boolean;
  /** The device sent `Connection: keep-alive`, so the answer states the idle timeout. */
  readonly asksToKeep: boolean;
}

/** The server closes the connection after these. */
const CLOSING = new Set([400, 408, 411, 413, 414, 500, 501, 503]);
const USUAL: Asked = { method: "GET", keepAlive: true, asksToKeep: false };

/** The head of an answer as a server writes it, and whether the connection closes. */
export function headOf(
  answer: DeviceResponse,
  now: number,
  asked: Asked = USUAL,
): { headers: [name: string, value: string][]; closes: boolean } {
  const { status, headers, chunked = false, body } = answer;
  const closes = !asked.keepAlive || CLOSING.has(status) || headers.Connection === "close";
  const lines = Object.entries(headers)
    .filter(([name]) => name !== "Connection")
    .flatMap(([name, value]) => [value].flat().map((item): [string, string] => [name, item]));
  if (!chunked) lines.push(["Content-Length", String(body.length)]);
  else if (asked.method !== "HEAD") lines.push(["Transfer-Encoding", "chunked"]);
  if (headers.Date === undefined) lines.push(["Date", new Date(now).toUTCString()]);
  if (closes) lines.push(["Connection", "close"]);
  else if (asked.asksToKeep) lines.push(["Keep-Alive", "timeout=60"], ["Connection", "keep-alive"]);
  return { headers: lines, closes };
}

/** The bytes of an answer, for faults that cut it and for platforms without sockets. */
export function answerBytes(
  answer: DeviceResponse,
  now: number,
  asked: Asked = USUAL,
): { whole: Uint8Array; head: number; closes: boolean } {
  const { headers, closes } = headOf(answer, now, asked);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = Buffer.from(`HTTP/1.1 ${answer.status} ${answer.reason ?? ""}\r\n${lines}\r\n`, "latin1");
  const body = asked.method === "HEAD" ? Buffer.alloc(0) : answer.body;
  const size = Buffer.from(`${body.length.toString(16)}\r\n`);
  const end = body.length === 0 ? "0\r\n\r\n" : "\r\n0\r\n\r\n";
  const parts =
    answer.chunked && asked.method !== "HEAD"
      ? [...(body.length > 0 ? [size, body] : []), Buffer.from(end)]
      : [body];
  return { whole: Buffer.concat([head, ...parts]), head: head.length, closes };
}
