// Trusted CAs of a device on Node, renewed by extras/trust.
import { readFileSync } from "node:fs";
import * as tls from "node:tls";
import { toPem } from "../../extras/commissioning/authorities.js";
import { type Renewal, renewTrust, type TrustHost } from "../../extras/trust/trust.js";
import { opener } from "./sockets.js";
import { encode } from "./text.js";

/**
 * `ca`: PEM, replaces Node's CAs. `isCommissioned`: given by the device's owner, not on the command
 * line.
 */
export function renewal(host: TrustHost, ca: string | undefined, isCommissioned: boolean): Renewal {
  const authorities = ca === undefined ? [] : [encode(ca)];
  const open = (list: readonly Uint8Array[]) =>
    opener({
      ca: list === authorities ? ca : list.flatMap((der) => (der.length > 0 ? pem(der) : nodesOwn())),
    });
  return renewTrust(host, { authorities, isBuiltIn: true, isCommissioned, open });
}

function pem(der: Uint8Array): string {
  return toPem(Buffer.from(der).toString("base64"));
}

/** CAs that a connection trusts by default. */
function nodesOwn(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (kind: "default") => string[] };
  if (getCACertificates) return getCACertificates("default");
  // Node before 22.15 does not report them.
  const { NODE_EXTRA_CA_CERTS: path } = process.env;
  return path ? [...tls.rootCertificates, readFileSync(path, "utf8")] : tls.rootCertificates;
}
