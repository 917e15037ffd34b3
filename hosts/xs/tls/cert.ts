// Takes the place of the SDK's "ssl/cert". That one passes over a certificate in the chain whose signature does not hold, takes any
// certificate for an authority, and looks at a server's own name and dates only if it sent others with it. Here the chain is
// judged by hosts/shared/x509; the SDK computes the signatures.

import Certificates, { type Signed } from "mote-sdk/ssl/cert";
import X509, { type SubjectKey } from "x509";
import { ALGORITHMS, type Certificate } from "../../shared/x509/certificate.js";
import { refusal } from "../../shared/x509/chain.js";
import { sequence, TAG, unsigned } from "../../shared/x509/der.js";
import { Refused } from "./refused.js";

export interface CertificateOptions {
  /** Certificates of the authorities to trust, DER. Without one nothing is trusted. */
  authorities?: readonly Uint8Array[];
}

export default class StrictCertificates extends Certificates {
  private readonly _authorities: readonly Uint8Array[];

  constructor(options: CertificateOptions) {
    super({});
    this._authorities = options.authorities ?? [];
  }

  /** Throws `Refused` with what is wrong. */
  override verify(presented: Uint8Array[], { peerName = "" }: { peerName?: string }): boolean {
    const reason = refusal(presented, peerName, {
      authorities: this._authorities,
      now: Date.now(),
      signedBy: (certificate, issuer) => this._signedBy(certificate, issuer),
    });
    if (reason) throw new Refused(reason);
    return true;
  }

  private _signedBy({ algorithm, signed, signature }: Certificate, issuer: Certificate): boolean {
    const key: SubjectKey = X509.decodeSPKI(issuer.der);
    const kind = ALGORITHMS[algorithm]?.key;
    if (kind === "rsa" ? key.modulus === undefined : !key.curve || !inRange(signature, key.curve.n))
      return false;
    const what: Signed = { tbs: signed, algo: algorithm.split(".").map(Number), sig: signature };
    return this._verify(key, what);
  }
}

/** Both numbers of an ECDSA signature lie between 1 and `order` - 1. The SDK does not look, and with zeros its arithmetic never ends. */
export const inRange = (signature: Uint8Array, order: bigint): boolean => {
  const numbers = sequence(signature);
  for (let i = 0; i < 2; i++) {
    const bytes = unsigned(numbers.next(TAG.integer).contents);
    const number = BigInt.fromArrayBuffer(bytes.slice().buffer);
    if (number < 1n || number >= order) return false;
  }
  return numbers.done;
};
