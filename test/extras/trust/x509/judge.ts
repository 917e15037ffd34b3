// A client's judgment of a server's chain, by Node's crypto: what TLS says on a device, without a connection.
import { X509Certificate } from "node:crypto";

const MOST = 8;

/** Undefined if a chain (DER) from one of `authorities` to `name` is valid at `now` (ms since 1970); otherwise why not. */
export function refusal(
  shown: readonly Uint8Array[],
  name: string,
  authorities: readonly Uint8Array[],
  now: number,
): string | undefined {
  const [leaf, ...between] = shown.map((der) => new X509Certificate(der));
  const trusted = authorities.map((der) => new X509Certificate(der));
  if (!leaf) return "certificate: none";
  if (leaf.checkHost(name, { subject: "never" }) === undefined) return "certificate: for another name";
  const isValid = (one: X509Certificate): boolean =>
    now >= Date.parse(one.validFrom) && now <= Date.parse(one.validTo);
  const issuedBy = (one: X509Certificate, issuer: X509Certificate): boolean =>
    issuer.ca && one.checkIssued(issuer) && one.verify(issuer.publicKey);
  for (let one: X509Certificate | undefined = leaf, n = 0; one && n < MOST; n++) {
    const issued: X509Certificate = one;
    if (!isValid(issued)) return "certificate: expired";
    const issuers = trusted.filter((issuer) => issuedBy(issued, issuer));
    if (issuers.length > 0) return issuers.some(isValid) ? undefined : "certificate: expired";
    one = between.find((issuer) => issuer !== issued && issuedBy(issued, issuer));
  }
  return "certificate: unknown issuer";
}
