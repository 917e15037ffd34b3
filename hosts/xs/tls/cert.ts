/// <reference path="../sdk-tls.d.ts" />
// Takes the place of the SDK's "ssl/cert". That one passes over a certificate in the chain whose signature does not hold, takes any
// certificate for an authority, and looks at a server's own name and dates only if it sent others with it. Here the chain is
// judged by hosts/x509; the SDK computes the signatures.
import Certificates, { type Signed } from "mote-sdk/ssl/cert";
import X509, { type SubjectKey } from "x509";
import { ALGORITHMS, type Certificate } from "mote-hosts/x509/certificate";
import { refusal } from "mote-hosts/x509/chain";
import { inRange } from "mote-hosts/xs/tls/in-range";
import { Refused } from "mote-hosts/xs/tls/refused";

export interface CertificateOptions {
  /** Certificates of the authorities to trust, DER. Without one nothing is trusted. */
  authorities?: readonly Uint8Array[];
}

export default class StrictCertificates extends Certificates {
  readonly #authorities: readonly Uint8Array[];

  constructor(options: CertificateOptions) {
    super({});
    this.#authorities = options.authorities ?? [];
  }

  /** Throws `Refused` with what is wrong. */
  override verify(presented: Uint8Array[], { peerName = "" }: { peerName?: string }): boolean {
    const reason = refusal(presented, peerName, {
      authorities: this.#authorities,
      now: Date.now(),
      signedBy: (certificate, issuer) => this.#signedBy(certificate, issuer),
    });
    if (reason) throw new Refused(reason);
    return true;
  }

  #signedBy({ algorithm, signed, signature }: Certificate, issuer: Certificate): boolean {
    const key: SubjectKey = X509.decodeSPKI(issuer.der);
    const kind = ALGORITHMS[algorithm]?.key;
    if (kind === "rsa" ? key.modulus === undefined : !key.curve || !inRange(signature, key.curve.n)) return false;
    const what: Signed = { tbs: signed, algo: algorithm.split(".").map(Number), sig: signature };
    return this._verify(key, what);
  }
}
