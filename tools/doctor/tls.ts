// The way to the platform: name, port, and for https the certificates a board will see.
import { X509Certificate } from "node:crypto";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type ConnectionOptions, connect, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import type { Target } from "../../src/http/target.js";
import { bad, type Finding, good, warning } from "./finding.js";

const PATIENCE_MS = 10_000;
const DAY_MS = 86_400_000;
/** A server's own certificate is renewed within weeks, and no device notices. */
const SOON_MS = 21 * DAY_MS;
/** Of an authority every device has to learn, those too that are switched off for weeks. */
const AUTHORITY_SOON_MS = 60 * DAY_MS;

export interface ConnectionCheck {
  readonly findings: readonly Finding[];
  /** Certificate (DER) that a board must trust; undefined over http, or if not trusted here. */
  readonly authority: Uint8Array | undefined;
}

/** `ca`: PEM, in place of the authorities that Node brings. */
export async function checkConnection(target: Target, ca: string | undefined): Promise<ConnectionCheck> {
  const findings: Finding[] = [];
  const name = target.name.replace(/^\[|\]$/g, "");
  try {
    const { address } = await lookup(name);
    findings.push(good("name", address === name ? `${name} is an address` : `${name} is at ${address}`));
  } catch {
    return {
      findings: [
        bad("name", `${name} is not found`, "Check the spelling of the URL, and the DNS of this network."),
      ],
      authority: undefined,
    };
  }
  if (!target.secure) {
    findings.push(
      warning(
        "TLS",
        "the base URL is http: others can read access tokens and data",
        "Use https outside of tests.",
      ),
    );
    return { findings, authority: undefined };
  }
  const found = await handshake(target, { ...(ca !== undefined && { ca }) });
  if (typeof found === "string") {
    const advice = "Check the port, and that a TLS server listens there.";
    return { findings: [...findings, bad("TLS", found, advice)], authority: undefined };
  }
  const certificates = chainOf(found.getPeerCertificate(true));
  const trusted = found.authorized;
  const why = found.authorizationError;
  found.destroy();
  findings.push(
    trust(trusted, why, ca),
    await sent(target, certificates, trusted),
    validity(certificates),
    await old(target),
  );
  return { findings, authority: trusted ? certificates.at(-1)?.raw : undefined };
}

/** The socket with the handshake done, verified or not; a text if there was none. */
function handshake({ name, port }: Target, options: ConnectionOptions): Promise<TLSSocket | string> {
  return new Promise((resolve) => {
    const host = name.replace(/^\[|\]$/g, "");
    const socket = connect({
      host,
      port,
      servername: isIP(host) ? "" : host,
      rejectUnauthorized: false,
      ...options,
    });
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error("no answer in time")));
    socket.once("secureConnect", () => resolve(socket));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      resolve(`no TLS connection (${error.code ?? error.message})`),
    );
  });
}

/** The server's own certificate first. */
function chainOf(leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let current: DetailedPeerCertificate | undefined = leaf;
  while (current?.raw && !chain.some(({ raw }) => raw.equals(current?.raw as Buffer))) {
    chain.push(new X509Certificate(current.raw));
    current = current.issuerCertificate;
  }
  return chain;
}

function isRoot(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate);
}

function trust(trusted: boolean, why: Error | string | undefined, ca: string | undefined): Finding {
  if (trusted) {
    const issuer = ca === undefined ? "a CA that this machine trusts" : "the CA in --ca";
    return good("certificate", `valid for this name, and issued by ${issuer}`);
  }
  const reason =
    why instanceof Error ? ((why as NodeJS.ErrnoException).code ?? why.message) : String(why ?? "unknown");
  const advice =
    ca === undefined
      ? "With your own CA: --ca FILE here and in mote run, and its DER in the board's configuration."
      : "Check that the CA in --ca issued this server's certificate, and that the certificate contains the name.";
  return bad("certificate", `it is not trusted: ${reason}`, advice);
}

/** The chain as sent by the server, without CAs of this machine. */
async function sent(target: Target, chain: readonly X509Certificate[], isTrusted: boolean): Promise<Finding> {
  const [leaf, issuer] = chain;
  const alone = await handshake(target, { ca: leaf?.toString() ?? "" });
  if (typeof alone === "string") return bad("chain", alone, "Try again.");
  const count = chainOf(alone.getPeerCertificate(true)).length;
  alone.destroy();
  if (count > 1) return good("chain", `the server sends ${count} certificates`);
  if (leaf && isRoot(leaf))
    return warning(
      "chain",
      "the server's certificate signed itself",
      "A board trusts it if that certificate is its authority. An authority of its own can be renewed apart.",
    );
  if (isTrusted && issuer && isRoot(issuer))
    return good("chain", "the server sends its own certificate, which the trusted root issued");
  return bad(
    "chain",
    "the server sends only its own certificate, so boards cannot find the issuer",
    "Configure the server to send the issuer's certificate too (nginx: both in ssl_certificate, its own first).",
  );
}

/** The first finding about a chain's dates, beginning with the server certificate. */
export function validity(
  chain: readonly Pick<X509Certificate, "validFrom" | "validTo" | "subject">[],
  now = Date.now(),
): Finding {
  for (const [at, { validFrom, validTo, subject }] of chain.entries()) {
    const isAuthority = at > 0;
    const name = subject.split("\n").at(-1) ?? "";
    if (Date.parse(validFrom) > now)
      return bad("dates", `${name} is not valid before ${validFrom}`, "Check the clock of this machine.");
    if (Date.parse(validTo) < now) return bad("dates", `${name} expired ${validTo}`, "Renew it.");
    if (Date.parse(validTo) < now + SOON_MS)
      return warning(
        "dates",
        `${name} expires ${validTo}`,
        "Renew it in time: a board that cannot connect cannot be updated.",
      );
    if (isAuthority && Date.parse(validTo) < now + AUTHORITY_SOON_MS)
      return warning(
        "dates",
        `the authority ${name} ends ${validTo}`,
        "Update the devices with an image that has the next CA too, while they can be reached.",
      );
  }
  return good("dates", `all certificates are valid, the first to end on ${ends(chain)}`);
}

function ends(chain: readonly Pick<X509Certificate, "validTo">[]): string {
  const first = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
  return new Date(first).toISOString().slice(0, 10);
}

/** The SDK speaks no newer one. */
async function old(target: Target): Promise<Finding> {
  const socket = await handshake(target, { maxVersion: "TLSv1.2", minVersion: "TLSv1.2" });
  if (typeof socket === "string")
    return bad(
      "TLS 1.2",
      "the server does not support it, and boards require it",
      "Enable TLS 1.2 in addition to 1.3.",
    );
  const { name } = socket.getCipher();
  socket.destroy();
  return good("TLS 1.2", `spoken, with ${name}`);
}
