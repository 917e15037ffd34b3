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

const SCHEME = /^(https?):\/\/(.*)$/i;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/i;
const PATH = /^(?:\/(?:[a-z0-9._~!$&'()*+,=:@-]|%[0-9a-f]{2})+)*$/i;
const SLASHES = /\/+$/;
const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|::1|(?:0{1,4}:){7}0{0,3}1)$/;
const DEFAULT_PORT = { http: 80, https: 443 } as const;

/** Reads a base URL. `reason` completes "baseUrl ..." and quotes nothing: a URL may hold a secret. */
export function parseTarget(url: string): ParsedTarget {
  const parts = typeof url === "string" ? SCHEME.exec(url) : null;
  if (!parts) return no("is a text that begins with http:// or https://");
  const rest = parts[2] as string;
  if (rest.includes("@")) return no("holds no user name or password, and no @");
  if (rest.includes("?") || rest.includes("#")) return no("holds no query and no fragment");
  const slash = rest.indexOf("/");
  const authority = AUTHORITY.exec(slash < 0 ? rest : rest.slice(0, slash));
  if (!authority) return no("names a host in ASCII: a name, an IPv4 address or an IPv6 address in brackets");
  const prefix = slash < 0 ? "" : rest.slice(slash).replace(SLASHES, "");
  if (!PATH.test(prefix)) return no("has a path of escaped segments, none of them empty");
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
}

/** True if the platform is on this machine, by its address or by `localhost`. */
export function isLoopback(target: Target): boolean {
  return LOOPBACK.test(target.name);
}

function no(reason: string): ParsedTarget {
  return { ok: false, reason };
}
