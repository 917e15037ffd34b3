// The answers of a real server that were recorded, and how ours are held against them.
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { valueJson } from "../../../../tools/platform/core/values.js";
import type { Platform } from "../../../../tools/platform/server.js";

/** `{x*300}` stands for 300 times x. `now` in what is stored is the time of the request. */
export interface Row {
  readonly name: string;
  readonly raw?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly answer: Recorded;
}

export interface Recorded {
  readonly status: number;
  /** Whether the headers of every answer of the device API were there. */
  readonly usual: boolean;
  readonly headers: readonly string[];
  readonly body: string;
  readonly closed?: boolean;
  readonly stored?: Readonly<Record<string, readonly (readonly [ts: number | "now", value: unknown])[]>>;
}

/** An answer as it is compared: JSON as a value, times as `*`. */
export interface Shown {
  status: number;
  headers: string[];
  body: unknown;
  closed: boolean | undefined;
}

const FIXTURE = new URL("./fixtures/device-api.json", import.meta.url);
const USUAL = [
  "Vary: Origin",
  "Vary: Access-Control-Request-Method",
  "Vary: Access-Control-Request-Headers",
  "X-Content-Type-Options: nosniff",
  "X-XSS-Protection: 0",
  "Cache-Control: no-cache, no-store, max-age=0, must-revalidate",
  "Pragma: no-cache",
  "Expires: 0",
  "X-Frame-Options: DENY",
];

export function recordedRows(): readonly Row[] {
  return (JSON.parse(readFileSync(FIXTURE, "utf8")) as { rows: Row[] }).rows;
}

/** What stands for something in a recorded text. */
export type Names = Readonly<Record<"T" | "K" | "S" | "N" | "P", string>>;

function filled(text: string, names: Names): string {
  return text
    .replace(/\{(.)\*(\d+)\}/gs, (_, sign: string, times: string) => sign.repeat(Number(times)))
    .replace(/\{([TKSNP])\}/g, (_, name: keyof Names) => names[name]);
}

/** The bytes of the request. */
export function requestOf(row: Row, names: Names): Buffer {
  if (row.raw !== undefined) return Buffer.from(filled(row.raw, names), "latin1");
  const { method = "", path = "", headers = [], body, bodyBase64 } = row;
  const bytes =
    bodyBase64 === undefined ? Buffer.from(filled(body ?? "", names)) : Buffer.from(bodyBase64, "base64");
  const says = headers.some((line) => /^(?:content-length|transfer-encoding):/i.test(line));
  const isStated = !says && (body !== undefined || bodyBase64 !== undefined);
  const lines = ["Host: 127.0.0.1", ...headers, ...(isStated ? [`Content-Length: ${bytes.length}`] : [])];
  const head = `${method} ${filled(path, names)} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

export function expected({ answer }: Row, names: Names): Shown {
  const headers = [...(answer.usual ? USUAL : []), ...answer.headers].filter((line) => !isVague(line));
  return {
    status: answer.status,
    headers: headers.map(plain).sort(),
    body: bodyOf(filled(answer.body, names), answer.status),
    closed: answer.closed,
  };
}

/** How long a connection that should end may take to, on a busy machine. */
const CLOSES_WITHIN_MS = 30_000;
/** How long a connection that should stay open is watched. */
const STAYS_FOR_MS = 30;
/** How long the answer after a 100 may take. */
const ANNOUNCED_MS = 1500;

/**
 * Asks on a connection of its own; an answer that only announces another (100) is one. `closes`:
 * whether the platform should end it.
 */
export function ask(
  { address }: Platform,
  request: Buffer,
  isHead: boolean,
  closes: boolean,
): Promise<Shown> {
  const socket = connect(address.port, address.host);
  let bytes = Buffer.alloc(0);
  socket.write(request);
  return new Promise((resolve, reject) => {
    let closed = false;
    const look = (): void => {
      const found = parse(bytes, isHead);
      if (!found) return;
      socket.removeAllListeners("data");
      socket.resume();
      const done = (): void => {
        socket.destroy();
        const { status, headers, body } = found;
        resolve({ status, headers, body, closed });
      };
      if (closed) done();
      else if (found.announced) setTimeout(done, ANNOUNCED_MS).unref();
      else setTimeout(done, closes ? CLOSES_WITHIN_MS : STAYS_FOR_MS).unref();
    };
    socket.on("data", (piece) => {
      bytes = Buffer.concat([bytes, piece]);
      look();
    });
    socket.on("end", () => {
      closed = true;
    });
    socket.on("error", reject);
    socket.on("close", () => {
      closed = true;
      if (parse(bytes, isHead)) look();
      else reject(new Error(`ended without an answer: ${bytes.toString("latin1").slice(0, 100)}`));
    });
  });
}

function parse(bytes: Buffer, isHead: boolean): (Omit<Shown, "closed"> & { announced: boolean }) | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const value = (name: string): string | undefined =>
    lines.find((line) => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
  const rest = bytes.subarray(end + 4);
  const chunked = value("transfer-encoding") === "chunked";
  const length = isHead ? 0 : Number(value("content-length") ?? 0);
  const body = chunked ? joined(rest) : rest.length < length ? undefined : rest.subarray(0, length);
  if (!body) return undefined;
  const headers = lines.filter((line) => !isVague(line)).map(plain);
  const isPage = value("content-type")?.includes("ISO-8859-1");
  const status = Number(first.split(" ")[1]);
  return {
    status,
    headers: headers.sort(),
    body: bodyOf(body.toString(isPage ? "latin1" : "utf8"), status),
    announced: value("connection") === "close",
  };
}

function joined(bytes: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (bytes.length < line + 4 + size) return undefined;
    if (size === 0) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 4 + size;
  }
}

/** Hangs on the moment, or on a body with a time in it. */
function isVague(line: string): boolean {
  return /^(?:date|content-length):/i.test(line);
}

function plain(line: string): string {
  const colon = line.indexOf(":");
  const value = line.slice(colon + 1).trim();
  return `${line.slice(0, colon).toLowerCase()}: ${value}`;
}

/**
 * An error is compared by its status and code: no client parses its message, its time or a parser's
 * text.
 */
function bodyOf(text: string, status: number): unknown {
  if (status === 500 && text !== "" && !text.startsWith("{") && !text.startsWith("Can't parse")) return "*";
  try {
    const json = JSON.parse(text.replace(/"timestamp":N/, '"timestamp":0')) as unknown;
    const isError = typeof json === "object" && json !== null && "errorCode" in json;
    return isError ? { ...json, message: "*", timestamp: 0 } : json;
  } catch {
    return text;
  }
}

/** All points of a device as the recording shows them. */
export function storedOf(platform: Platform, token: string, now: number): Record<string, unknown> {
  const series = platform.core.devices.byToken(token)?.series;
  const all = { startTs: -(2 ** 62), endTs: 2 ** 62, limit: 1_000, ascending: true };
  const entries = (series?.keys() ?? []).map((key) => [
    key,
    series
      ?.range(key, all)
      .map(({ ts, value }) => [ts === now ? "now" : ts, JSON.parse(valueJson(value)) as unknown]),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

export function storedExpected({ answer }: Row): unknown {
  const names: Names = { T: "", K: "", S: "", N: "", P: "" };
  return JSON.parse(filled(JSON.stringify(answer.stored), names));
}
