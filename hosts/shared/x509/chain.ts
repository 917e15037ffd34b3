// Whether a server's certificates lead from its name to an authority that is trusted (RFC 5280, RFC 6125).
import { lowerCase } from "../../../src/wire/text/characters.js";
import { ALGORITHMS, type Certificate, readCertificate } from "./certificate.js";
import { DerError, equalBytes } from "./der.js";
import { isIpv4 } from "./ipv4.js";

/** Of one server: more certificates, or more signatures to check, make a board busy for somebody else. */
const CERTIFICATES = 8;
const SIGNATURES = 6;
/** Below these keys say nothing. A small exponent makes signatures that are read loosely easy to forge. */
const RSA_BITS = 2048;
const RSA_EXPONENT = 65_537;

export interface Trust {
  /** Certificates of authorities, DER. */
  readonly authorities: readonly Uint8Array[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** True if `certificate` carries a signature by the key of `issuer`, whose kind fits the algorithm. May throw: then it does not. */
  signedBy(certificate: Certificate, issuer: Certificate): boolean;
}

/**
 * Undefined if the first of `presented` (DER) is for `name`, a host name or an IPv4 address, and one of the authorities vouches for
 * it, over others of `presented` or without. Otherwise what is wrong with it, for people, 80 characters at most.
 */
export const refusal = (presented: readonly Uint8Array[], name: string, trust: Trust): string | undefined => {
  if (presented.length > CERTIFICATES) return "certificate: too many of them";
  try {
    const [leaf, ...others] = presented.map(readCertificate);
    if (!leaf) return "certificate: none";
    if (!isFor(leaf, name)) return "certificate: for another name";
    if (!leaf.forServers) return "certificate: not for servers";
    return new Path(trust, others).from(leaf);
  } catch (error) {
    if (error instanceof DerError) return "certificate: malformed";
    throw error;
  }
};

class Path {
  private readonly _trust: Trust;
  private readonly _roots: readonly Certificate[];
  private readonly _others: readonly Certificate[];
  private _signatures = 0;

  constructor(trust: Trust, others: readonly Certificate[]) {
    this._trust = trust;
    this._roots = trust.authorities.map(readCertificate);
    this._others = others;
  }

  from(leaf: Certificate): string | undefined {
    let current = leaf;
    for (let between = 0; between <= this._others.length; between++) {
      const problem = this._problem(current);
      if (problem) return problem;
      // Trusted by name, whoever signed it.
      if (this._roots.some(({ der }) => equalBytes(der, current.der))) return undefined;
      if (!ALGORITHMS[current.algorithm]) return "certificate: signed in a way that is not trusted";
      const root = this._issuer(current, this._roots, between);
      const over = typeof root === "object" ? this._problem(root) : root;
      if (typeof root === "object" && !over) return undefined;
      // An authority that is over may have been signed by another one since.
      const next = this._issuer(current, this._others, between);
      if (!next || (over && typeof next === "string")) return over ?? "certificate: unknown issuer";
      if (typeof next === "string") return next;
      current = next;
    }
    return "certificate: unknown issuer";
  }

  /**
   * The one of `among` that signed `certificate`; a text if the one that did must not; undefined if there is none. One key may be in several: who renews an
   * authority without another key leaves one that is over beside one that is not.
   */
  private _issuer(
    certificate: Certificate,
    among: readonly Certificate[],
    between: number,
  ): Certificate | string | undefined {
    let unfit: string | undefined;
    const over: Certificate[] = [];
    for (const candidate of among) {
      if (!equalBytes(candidate.subject, certificate.issuer)) continue;
      if (!candidate.authority || candidate.pathLength < between) {
        unfit = "certificate: its issuer is not a CA";
      } else if (this._problem(candidate)) over.push(candidate);
      else if (this._signed(certificate, candidate)) return candidate;
    }
    return over.find((candidate) => this._signed(certificate, candidate)) ?? unfit;
  }

  private _signed(certificate: Certificate, issuer: Certificate): boolean {
    if (++this._signatures > SIGNATURES) return false;
    try {
      return this._trust.signedBy(certificate, issuer);
    } catch {
      return false;
    }
  }

  private _problem({ from, to, strange, key }: Certificate): string | undefined {
    if (this._trust.now < from) return "certificate: not valid yet";
    if (this._trust.now > to) return "certificate: expired";
    if (strange) return "certificate: demands what is not known";
    const { bits = RSA_BITS, exponent = RSA_EXPONENT } = key;
    return bits < RSA_BITS || exponent < RSA_EXPONENT ? "certificate: its key is too weak" : undefined;
  }
}

const isFor = ({ hosts, addresses }: Certificate, name: string): boolean => {
  if (isIpv4(name)) return addresses.some((bytes) => bytes.length === 4 && bytes.join(".") === name);
  const wanted = lowerCase(name);
  return hosts.some((host) => matches(lowerCase(host), wanted));
};

/** A star stands for the whole of the first label, of three at least. */
const matches = (host: string, wanted: string): boolean => {
  if (!host.startsWith("*.")) return host === wanted && !host.includes("*");
  const dot = wanted.indexOf(".");
  const rest = host.slice(1);
  return dot > 0 && rest.indexOf(".", 1) > 0 && !rest.includes("*") && wanted.slice(dot) === rest;
};
