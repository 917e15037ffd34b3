// Where a credential may be sent.
import type { Target } from "../../http/target.js";

/** A credential goes to this address alone, by this scheme, and under these authorities. */
export interface Binding {
  readonly scheme: "http" | "https";
  /** Host, port unless it is the scheme's own, and path of the base URL. */
  readonly address: string;
  /** As the port's `authorities`; undefined over http, and where the host does not say. */
  readonly authorities: string | undefined;
}

export const bindingOf = (
  { secure, authority, prefix }: Target,
  authorities: string | undefined,
): Binding => ({
  scheme: secure ? "https" : "http",
  address: `${authority}${prefix}`,
  authorities: secure ? authorities : undefined,
});

/** As it is stored beside a credential: `ca` is left out where no authorities are known. */
export const storedBinding = ({ scheme, address, authorities }: Binding): { url: string; ca?: string } => ({
  url: `${scheme}://${address}`,
  ...(authorities !== undefined && { ca: authorities }),
});
