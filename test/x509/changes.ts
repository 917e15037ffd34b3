// What becomes of a server's authority over the years: it is renewed, signed by another, replaced.
import { X509Certificate } from "node:crypto";
import type { Authorities, Issued } from "./authority.js";

const CA = "critical,CA:TRUE";
const NAMES = "DNS:localhost,IP:127.0.0.1";

export interface Shown {
  readonly chain: readonly Issued[];
  /** Whoever trusts one of these must take it, and nobody else. */
  readonly by: readonly Issued[];
}

export interface Changes {
  /** Of the server's first years; `expired` has its name and key, and is over. */
  readonly first: Issued;
  readonly expired: Issued;
  readonly second: Issued;
  /** Of somebody else, with the name of `first`. */
  readonly stranger: Issued;
  readonly shown: {
    readonly ofFirst: Shown;
    readonly ofSecond: Shown;
    /** By `second`, which `first` signed as well. */
    readonly crossSigned: Shown;
    readonly ofStranger: Shown;
  };
}

/** `names`: the server's. `given`: its authority in the first years, in place of a new one. */
export function changes(made: Authorities, names = NAMES, given?: Issued): Changes {
  const root = (subject: string, more = {}): Issued =>
    made.issue(subject, undefined, { constraints: CA, days: [-1, 3650], ...more });
  const [first, second, stranger] = [given ?? root("root"), root("second root"), root("root")];
  const expired = root("root", { keyOf: first, days: [-100, -1] });
  const cross = made.issue("second root", first, { constraints: CA, days: [-1, 3650], keyOf: second });
  const leaf = (issuer: Issued): Issued => made.issue("server", issuer, { names, days: [-1, 3650] });
  const [a, b] = [leaf(first), leaf(second)];
  return {
    ...{ first, expired, second, stranger },
    shown: {
      ofFirst: { chain: [a], by: [first] },
      ofSecond: { chain: [b], by: [second] },
      crossSigned: { chain: [b, cross], by: [first, second] },
      ofStranger: { chain: [leaf(stranger)], by: [stranger] },
    },
  };
}

/** The subject of its certificate. */
export const titleOf = ({ cert }: Issued): string => new X509Certificate(cert).subject;
