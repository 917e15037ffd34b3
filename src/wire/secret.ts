// What a device proves itself with.

/** A secret goes to this address alone, by this scheme, and under these authorities. */
export interface Binding {
  readonly scheme: "http" | "https";
  /** Host, port unless it is the scheme's own, and path of the base URL. */
  readonly address: string;
  /** As the port's `authorities`; undefined over http, and where the host does not say. */
  readonly authorities: string | undefined;
}

/** True if a secret bound to `one` may be sent where one bound to `other` may. */
export const isSameBinding = (one: Binding, other: Binding): boolean =>
  one === other ||
  (one.scheme === other.scheme && one.address === other.address && one.authorities === other.authorities);

/**
 * A secret and the connection that it may be sent on. Prints as "***", also in JSON; only request
 * encoders, the token store and a hash of the refusal back-off reveal it. test/architecture lists
 * them.
 */
export class Secret {
  readonly binding: Binding;
  readonly #text: string;

  constructor(text: string, binding: Binding) {
    this.#text = text;
    this.binding = binding;
  }

  reveal(): string {
    return this.#text;
  }

  equals(other: Secret | undefined): boolean {
    return other !== undefined && this.#text === other.#text;
  }

  toString(): string {
    return "***";
  }

  toJSON(): string {
    return "***";
  }
}
