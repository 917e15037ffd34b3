// Which secrets a connection may carry.
import type { Binding } from "../wire/secret.js";
import type { Target } from "./target.js";

/** The binding of a connection to `target`. */
export const bindingOf = (
  { secure, authority, prefix }: Target,
  authorities: string | undefined,
): Binding => ({
  scheme: secure ? "https" : "http",
  address: `${authority}${prefix}`,
  authorities: secure ? authorities : undefined,
});

export const isSameBinding = (one: Binding, other: Binding): boolean =>
  one === other ||
  (one.scheme === other.scheme && one.address === other.address && one.authorities === other.authorities);
