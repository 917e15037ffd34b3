// What the web server under the platform (Tomcat) makes of a head before it asks the platform: how long the body is, whether the connection
// stays, and which requests it refuses itself.

import type { Head } from "./head.js";
import { takesTarget } from "./target.js";

export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" };

export interface Prepared {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Repeated ones joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly version: "1.1" | "1.0" | "0.9";
  readonly body: Framing;
  readonly keepAlive: boolean;
  readonly asksToKeep: boolean;
  /** The device waits for a word before it sends the body. */
  readonly expects: boolean;
}

/** The status of the page that refuses it, and whether the answer announces the end of the connection. */
export interface RefusedHead {
  readonly status: 400 | 417 | 501 | 505;
  readonly announced: boolean;
  readonly version: Prepared["version"];
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\.?$/;
const ADDRESS = /^\[[0-9A-Fa-f:.]+\]$/;
const USER = /^[-._~!$&'()*+,;=%:A-Za-z0-9]*$/;
const LENGTH = /^\d{1,18}$/;
/** Of these a server takes one line only. */
const ONCE = new Set(["host", "content-length"]);

export function prepare(head: Head): Prepared | RefusedHead {
  const version = VERSIONS[head.version];
  if (version === undefined) return { status: 505, announced: false, version: "1.1" };
  const found = headersOf(head);
  const { headers } = found;
  let status: RefusedHead["status"] | undefined =
    version === "0.9" && head.method !== "GET" ? 400 : undefined;
  const tokens = tokensOf(headers.connection);
  const expect = version === "1.1" ? headers.expect?.trim().toLowerCase() : undefined;
  if (expect !== undefined && expect !== "100-continue") status = 417;
  if (head.method === "CONNECT") status = 501;
  if (found.repeated) status = 400;
  const { host } = headers;
  if (version === "1.1" && host === undefined) status = 400;
  const target = originForm(head.target, host, version);
  const [path = "", ...rest] = (target ?? "").split("?");
  const isPing = target === "*" && head.method === "OPTIONS";
  if (target === undefined || !(isPing || takesTarget(path, rest.join("?")))) status ??= 400;
  const body = framingOf(headers);
  if (typeof body === "number") status = body;
  if (host !== undefined && !isHost(host)) status = 400;
  if (status !== undefined || typeof body === "number")
    return { status: status ?? 400, announced: status !== 417, version };
  const both = body.kind === "chunked" && headers["content-length"] !== undefined;
  if (both) delete headers["content-length"];
  const asksToKeep = tokens.has("keep-alive");
  const keepAlive = !tokens.has("close") && !both && (version === "1.1" || asksToKeep);
  const expects = expect !== undefined;
  return {
    method: head.method,
    url: target as string,
    headers,
    version,
    body,
    keepAlive,
    asksToKeep,
    expects,
  };
}

const VERSIONS: Record<string, Prepared["version"]> = { "HTTP/1.1": "1.1", "HTTP/1.0": "1.0", "": "0.9" };

function isHost(host: string): boolean {
  const name = host.replace(/:\d*$/, "");
  return name === "" || NAME.test(name) || ADDRESS.test(name);
}

function headersOf(head: Head): { headers: Record<string, string>; repeated: boolean } {
  const headers: Record<string, string> = Object.create(null);
  let repeated = false;
  for (const [name, value] of head.headers) {
    const before = headers[name];
    if (before !== undefined && ONCE.has(name)) repeated = true;
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return { headers, repeated };
}

/** `http://host/path` -> `/path`; undefined if scheme or host are none, or not those of the Host header. */
function originForm(
  target: string,
  host: string | undefined,
  version: Prepared["version"],
): string | undefined {
  const cut = target.indexOf("?");
  const uri = cut < 0 ? target : target.slice(0, cut);
  const query = cut < 0 ? "" : target.slice(cut);
  if (!/^http/i.test(uri)) return target;
  const [, authority, path = ""] = /^https?:\/\/([^/]*)(.*)$/i.exec(uri) ?? [];
  if (authority === undefined) return undefined;
  const at = authority.indexOf("@");
  if (at >= 0 && !USER.test(authority.slice(0, at))) return undefined;
  const name = authority.slice(at + 1);
  if (version === "1.1" && host !== undefined && host.toLowerCase() !== name.toLowerCase()) return undefined;
  return (path === "" ? "/" : path) + query;
}

function framingOf(headers: Readonly<Record<string, string>>): Framing | 400 | 501 {
  const coding = headers["transfer-encoding"];
  const names = coding === undefined ? [] : coding.split(",").map((name) => name.trim().toLowerCase());
  let chunked = false;
  for (const name of names) {
    if (chunked) return 400;
    if (name === "chunked") chunked = true;
    else if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) return 400;
    else return 501;
  }
  const length = headers["content-length"];
  if (length !== undefined && !LENGTH.test(length)) return 400;
  if (chunked) return { kind: "chunked" };
  return length === undefined ? { kind: "none" } : { kind: "length", length: Number(length) };
}

export function tokensOf(value = ""): Set<string> {
  return new Set(value.split(",").map((token) => token.trim().toLowerCase()));
}
