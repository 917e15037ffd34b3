import { lazyRegExp } from "../wire/text/regexp.js";

/** Where the platform is. */
export interface Target {
  readonly secure: boolean;
  /** A host name in lower case, or an address; IPv6 without its brackets. */
  readonly name: string;
  readonly port: number;
  /** The base URL's own path without the slash at its end: "" or "/thingsboard". */
  readonly prefix: string;
  /** For the Host header: name, and port unless it is the scheme's own. */
  readonly authority: string;
}

export type ParsedTarget =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly reason: string };

const SCHEME = lazyRegExp(() => /^(https?):\/\/(.*)$/i);
const AUTHORITY = lazyRegExp(() => /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/i);
const PATH = lazyRegExp(() => /^(?:\/(?:[a-z0-9._~!$&'()*+,=:@-]|%[0-9a-f]{2})+)*$/i);
const PRINTABLE = lazyRegExp(() => /^\/[!-~]*$/);
const DELIMITER = lazyRegExp(() => /[/?#]/);
const ABSOLUTE = lazyRegExp(() => /^[a-z][a-z0-9+.-]*:/i);
const SLASHES = lazyRegExp(() => /\/+$/);
const LOOPBACK = lazyRegExp(
  () => /^(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|::1|(?:0{1,4}:){7}0{0,3}1)$/,
);
const DEFAULT_PORT = { http: 80, https: 443 } as const;

/** Reads a base URL. `reason` completes "baseUrl ..." and quotes nothing: a URL may hold a secret. */
export const parseTarget = (url: string): ParsedTarget => {
  const parts = typeof url === "string" ? SCHEME().exec(url) : null;
  if (!parts) return no("is a text that begins with http:// or https://");
  const rest = parts[2] as string;
  if (rest.includes("@")) return no("holds no user name or password, and no @");
  if (rest.includes("?") || rest.includes("#")) return no("holds no query and no fragment");
  const slash = rest.indexOf("/");
  const authority = AUTHORITY().exec(slash < 0 ? rest : rest.slice(0, slash));
  if (!authority) return no("names a host in ASCII: a name, an IPv4 address or an IPv6 address in brackets");
  const prefix = slash < 0 ? "" : rest.slice(slash).replace(SLASHES(), "");
  if (!PATH().test(prefix)) return no("has a path of escaped segments, none of them empty");
  const scheme = (parts[1] as string).toLowerCase() as keyof typeof DEFAULT_PORT;
  const standard = DEFAULT_PORT[scheme];
  const port = authority[2] === undefined ? standard : Number(authority[2]);
  if (port < 1 || port > 65_535) return no("has a port from 1 to 65535");
  const host = (authority[1] as string).toLowerCase();
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

/** Where a file is: `path` begins with "/", and holds the query. Undefined for what is no absolute http or https URL without a user name. */
export const parseUrl = (url: string): { target: Target; path: string } | undefined => {
  const parts = SCHEME().exec(url);
  if (!parts) return undefined;
  const rest = parts[2] as string;
  const end = DELIMITER().exec(rest)?.index ?? -1;
  const target = parseTarget(`${parts[1]}://${end < 0 ? rest : rest.slice(0, end)}`);
  const tail = end < 0 ? "" : (rest.slice(end).split("#")[0] as string);
  const path = tail.startsWith("/") ? tail : `/${tail}`;
  return target.ok && PRINTABLE().test(path) ? { target: target.target, path } : undefined;
};

/** What a Location means that was got from `from`, an absolute URL. */
export const resolveUrl = (from: string, location: string): string => {
  if (ABSOLUTE().test(location)) return location;
  const parts = SCHEME().exec(from);
  const rest = (parts?.[2] ?? "").split("#")[0] as string;
  if (location.startsWith("//")) return `${parts?.[1]}:${location}`;
  const path = DELIMITER().exec(rest)?.index ?? -1;
  const authority = `${parts?.[1]}://${path < 0 ? rest : rest.slice(0, path)}`;
  const here = (path >= 0 && rest.slice(path).split("?")[0]) || "/";
  if (location.startsWith("?")) return authority + here + location;
  const base = location.startsWith("/") ? "" : here.slice(0, here.lastIndexOf("/") + 1);
  const query = location.indexOf("?");
  const way = base + (query < 0 ? location : location.slice(0, query));
  return authority + withoutDots(way) + (query < 0 ? "" : location.slice(query));
};

/** A path whose segments . and .. were followed. */
const withoutDots = (path: string): string => {
  const kept: string[] = [];
  const segments = path.split("/").slice(1);
  segments.forEach((segment) => {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  });
  const last = segments.at(-1);
  if (last === "." || last === "..") kept.push("");
  return `/${kept.join("/")}`;
};

/** True if the platform is on this machine, by its address or by `localhost`. */
export const isLoopback = (target: Target): boolean => {
  return LOOPBACK().test(target.name);
};

const no = (reason: string): ParsedTarget => {
  return { ok: false, reason };
};
