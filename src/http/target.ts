import { escapeText } from "../wire/paths.js";
import type { Binding } from "../wire/secret.js";
import {
  characters,
  DIGITS,
  HEX,
  hasControl,
  isMadeOf,
  lowerCase,
  spanOf,
  VISIBLE,
} from "../wire/text/characters.js";

/** Address of the platform. */
export interface Target {
  readonly secure: boolean;
  /** Host name in lower case or IP address; IPv6 without brackets. */
  readonly name: string;
  readonly port: number;
  /** Path of the base URL without trailing slash: "" or "/thingsboard". */
  readonly prefix: string;
  /** Value of the Host header: name, and port if it is not the scheme's default. */
  readonly authority: string;
}

export type ParsedTarget =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly reason: string };

const HOST = characters("az09-.__");
const IPV6 = characters("09af::..");
const SEGMENT = characters("azAZ09-.__~~!!$%&,==::@@");
const DEFAULT_PORT = { http: 80, https: 443 } as const;

/**
 * Parses a base URL. `reason` completes "baseUrl ..." and never quotes the URL, which may hold a
 * secret.
 */
export const parseTarget = (url: string): ParsedTarget => {
  const parts = typeof url === "string" ? partsOf(url) : undefined;
  if (!parts) return invalid("must be a string that begins with http:// or https://");
  const { scheme, rest } = parts;
  if (rest.includes("@")) return invalid("must not contain a user name, password or @");
  if (rest.includes("?") || rest.includes("#")) return invalid("must not contain a query or fragment");
  const end = authorityEnd(rest);
  const host = hostOf(lowerCase(rest.slice(0, end)));
  if (host === undefined)
    return invalid("must have an ASCII host name, an IPv4 address or an IPv6 address in brackets");
  let prefix = rest.slice(end);
  while (prefix.endsWith("/")) prefix = prefix.slice(0, -1);
  if (!prefix.split("/").slice(1).every(isSegment))
    return invalid("must have a path of escaped, non-empty segments");
  const standard = DEFAULT_PORT[scheme];
  const port = host.length === end ? standard : Number(rest.slice(host.length + 1, end));
  if (port < 1 || port > 65_535) return invalid("must have a port from 1 to 65535");
  return {
    ok: true,
    target: {
      secure: scheme === "https",
      name: host.startsWith("[") ? host.slice(1, -1) : host,
      port,
      prefix,
      authority: port === standard ? host : `${host}:${port}`,
    },
  };
};

export type ParsedUrl =
  | { readonly ok: true; readonly target: Target; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses the URL of a file: an absolute http or https URL without user name. `path` begins with "/"
 * and includes the query; blanks and characters beyond ASCII are percent-encoded. `reason`
 * completes "the URL ...".
 */
export const readUrl = (url: string): ParsedUrl => {
  const parts = partsOf(url);
  if (!parts) return { ok: false, reason: "must begin with http:// or https://, in one line" };
  const { scheme, rest } = parts;
  const end = authorityEnd(rest);
  const target = parseTarget(`${scheme}://${rest.slice(0, end)}`);
  if (!target.ok) return target;
  const tail = rest.slice(end).split("#")[0] as string;
  const path = escapeRest(tail.startsWith("/") ? tail : `/${tail}`);
  return { ok: true, target: target.target, path };
};

/** Like `readUrl`; undefined if the URL is invalid. */
export const parseUrl = (url: string): { target: Target; path: string } | undefined => {
  const read = readUrl(url);
  return read.ok ? read : undefined;
};

const escapeRest = (path: string): string => {
  if (isMadeOf(path, VISIBLE)) return path;
  let escaped = "";
  for (const char of path) escaped += isMadeOf(char, VISIBLE) ? char : escapeText(char);
  return escaped;
};

/**
 * Resolves a Location header against `from`, an absolute URL. Segments such as ".." are left to the
 * server. A query alone, and a scheme that is not http, stay as they are: `readUrl` refuses them.
 */
export const resolveUrl = (from: string, location: string): string => {
  const { scheme, rest } = partsOf(from) ?? { scheme: "http", rest: "" };
  if (location.startsWith("//")) return `${scheme}:${location}`;
  const isPath = location.startsWith("/");
  if (!isPath && (location.startsWith("?") || location.includes(":"))) return location;
  const end = authorityEnd(rest);
  const file = (rest.slice(end).split("#")[0] as string).split("?")[0] || "/";
  const folder = isPath ? "" : file.slice(0, file.lastIndexOf("/") + 1);
  return `${scheme}://${rest.slice(0, end)}${folder}${location}`;
};

/** True for `localhost` and the loopback addresses of this machine. */
export const isLoopback = ({ name }: Target): boolean => {
  if (name === "localhost" || name === "::1") return true;
  if (name.endsWith(".localhost")) return name !== ".localhost";
  const bytes = name.split(".");
  return bytes.length === 4 && bytes[0] === "127" && bytes.every((byte) => isMadeOf(byte, DIGITS, 3));
};

/** Undefined unless the text is an http or https URL in one line. */
const partsOf = (url: string): { scheme: keyof typeof DEFAULT_PORT; rest: string } | undefined => {
  const end = url.indexOf("://");
  const scheme = lowerCase(url.slice(0, Math.max(end, 0)));
  return !hasControl(url) && (scheme === "http" || scheme === "https")
    ? { scheme, rest: url.slice(end + 3) }
    : undefined;
};

/** Position of the path, query or fragment. */
const authorityEnd = (rest: string): number => {
  let end = rest.length;
  for (const delimiter of "/?#") {
    const at = rest.indexOf(delimiter);
    if (at >= 0 && at < end) end = at;
  }
  return end;
};

/** The host part of a lower-case authority; undefined if it is invalid. */
export const hostOf = (authority: string): string | undefined => {
  const isBracketed = authority.startsWith("[");
  const end = isBracketed ? authority.indexOf("]") + 1 : spanOf(authority, HOST);
  const host = authority.slice(0, end);
  const port = authority.slice(end);
  const isHost = isBracketed ? isMadeOf(host.slice(1, -1), IPV6) : host !== "";
  return isHost && (port === "" || (port.startsWith(":") && isMadeOf(port.slice(1), DIGITS, 5)))
    ? host
    : undefined;
};

const isSegment = (segment: string): boolean =>
  isMadeOf(segment, SEGMENT) &&
  segment
    .split("%")
    .slice(1)
    .every((escaped) => spanOf(escaped, HEX) >= 2);

const invalid = (reason: string): ParsedTarget => {
  return { ok: false, reason };
};

/** The binding of secrets to this platform: which connections may carry them. */
export const bindingOf = (
  { secure, authority, prefix }: Target,
  authorities: string | undefined,
): Binding => ({
  scheme: secure ? "https" : "http",
  address: `${authority}${prefix}`,
  authorities: secure ? authorities : undefined,
});
