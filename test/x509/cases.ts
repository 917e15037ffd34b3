// Chains that a server may show, and what a client that trusts `root` alone must make of each. The
// name asked for is "localhost", or the address.
import { createServer, type Server, type TlsOptions } from "node:tls";
import { type Authorities, type Issued, identityOf } from "./authority.js";

export interface Case {
  readonly title: string;
  readonly chain: readonly Issued[];
  /** Undefined: taken. */
  readonly refused: string | undefined;
}

const CA = "critical,CA:TRUE";

/** A server that answers whatever it hears with `bytes` of text, and ends. */
export function answering(
  { chain }: { readonly chain: readonly Issued[] },
  more: TlsOptions = {},
  bytes = 7,
): Server {
  return createServer({ ...identityOf(chain), ...more }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.end(Buffer.alloc(bytes, "w")));
  });
}

/** mbedTLS does not say which of the two. */
export const byMbedTls = (refused: string): string =>
  refused === "certificate: demands what is not known"
    ? "certificate: malformed, or with an unknown critical extension"
    : refused;

export interface Given {
  /** Its subject is "root". */
  readonly root?: Issued;
  readonly address?: string;
}

export function cases(
  made: Authorities,
  { root = made.issue("root", undefined, { constraints: CA }), address = "127.0.0.1" }: Given = {},
): { root: Issued; cases: readonly Case[] } {
  const NAMES = `DNS:localhost,IP:${address}`;
  const stranger = made.issue("root", undefined, { constraints: CA });
  const between = made.issue("between", root, { constraints: CA });
  const shortened = made.issue("short", root, { constraints: "critical,CA:TRUE,pathlen:0" });
  const below = made.issue("below", shortened, { constraints: CA });
  const good = made.issue("good", root, { names: NAMES });
  const deep = made.issue("deep", between, { names: NAMES });
  const tooDeep = made.issue("too deep", below, { names: NAMES });
  const other = made.issue("other", root, { names: "DNS:elsewhere.test" });
  const ordinary = made.issue("ordinary", root, { names: "DNS:ordinary.test", constraints: "CA:FALSE" });
  const bare = made.issue("bare", root, { names: "DNS:bare.test" });
  const byLeaf = made.issue("by leaf", ordinary, { names: NAMES });
  const byBare = made.issue("by bare", bare, { names: NAMES });
  const expired = made.issue("expired", root, { names: NAMES, days: [-30, -1] });
  const early = made.issue("early", root, { names: NAMES, days: [1, 30] });
  const unknown = made.issue("unknown", stranger, { names: NAMES });
  const own = made.issue("own", undefined, { names: NAMES });
  const client = made.issue("client", root, { names: NAMES, more: "extendedKeyUsage=clientAuth" });
  const strange = made.issue("strange", root, { names: NAMES, more: "1.2.3.4=critical,ASN1:NULL" });
  const refused = (title: string, chain: readonly Issued[], why: string): Case => ({
    title,
    chain,
    refused: `certificate: ${why}`,
  });
  return {
    root,
    cases: [
      { title: "signed by the authority", chain: [good], refused: undefined },
      { title: "sent with the authority's own certificate", chain: [good, root], refused: undefined },
      { title: "over one between, in the wrong order", chain: [deep, root, between], refused: undefined },
      refused("for another name", [other, root], "for another name"),
      refused("expired", [expired, root], "expired"),
      refused("not valid yet", [early, root], "not valid yet"),
      refused("of an unknown authority of the same name", [unknown, stranger], "unknown issuer"),
      refused("signed by itself", [own], "unknown issuer"),
      refused("signed by one that is no authority", [byLeaf, ordinary, root], "its issuer is not a CA"),
      refused("signed by one without constraints", [byBare, bare, root], "its issuer is not a CA"),
      refused("in front of another's good chain", [own, good, root], "unknown issuer"),
      refused(
        "below an authority that may have none below",
        [tooDeep, below, shortened],
        "its issuer is not a CA",
      ),
      refused("without the one between", [deep], "unknown issuer"),
      refused("not for servers", [client, root], "not for servers"),
      refused("demanding what is not known", [strange, root], "demands what is not known"),
    ],
  };
}
