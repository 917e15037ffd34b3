// The settings that a device's owner enters, and their rules.

import { parseTarget } from "../../src/http/target.js";
import { checkToken } from "../../src/wire/paths.js";
import { HEX, hasControl, isMadeOf } from "../../src/wire/text/characters.js";
import { utf8Length } from "../../src/wire/text/text.js";
import { readAuthorities } from "./authorities.js";

/** A missing or empty value keeps the previous one. */
export interface Values {
  /** Name of the Wi-Fi, 1 to 32 bytes. */
  readonly ssid?: string | undefined;
  /** Password of the Wi-Fi, 8 to 63 bytes or 64 hexadecimal digits; empty for an open network. */
  readonly password?: string | undefined;
  /** Base URL of the platform. */
  readonly url?: string | undefined;
  /** CA certificates, PEM or the base64 of one; `none` for the built-in ones. */
  readonly ca?: string | undefined;
  readonly token?: string | undefined;
  /** Provisioning key and secret. */
  readonly key?: string | undefined;
  readonly secret?: string | undefined;
  /** Password of the device's own access point, as on its label: 8 to 63 bytes. */
  readonly label?: string | undefined;
}

/** The device's settings before anything is entered. */
export interface Before extends Values {
  /**
   * After a reset: true if `values` have the Wi-Fi that the reset deleted. Undefined if none was.
   */
  readonly isForgottenNetwork?: ((values: Values) => boolean) | undefined;
}

export type Field = keyof Values;
/** A problem, for people, and its field. Never quotes a value. */
export interface Finding {
  readonly field: Field;
  readonly reason: string;
}

export const FIELDS: readonly Field[] = ["ssid", "password", "url", "ca", "token", "key", "secret", "label"];
/** Never shown or echoed, nor their lengths. */
export const SECRETS: readonly Field[] = ["password", "token", "key", "secret", "label"];

export const NO_CA = "none";

const LONGEST = { ssid: 32, password: 63, label: 63, text: 255 } as const;
const SHORTEST_PASSWORD = 8;
/** Length of a key in place of a password, in hexadecimal digits. */
const KEY_DIGITS = 64;

/** Why a Wi-Fi cannot be joined with these values, as far as known; undefined if it may work. */
export const checkNetwork = (ssid: unknown, password: unknown): Finding | undefined => {
  if (typeof ssid !== "string" || ssid === "" || utf8Length(ssid) > LONGEST.ssid || hasControl(ssid))
    return { field: "ssid", reason: `the Wi-Fi's name must have 1 to ${LONGEST.ssid} bytes` };
  if (password === undefined || password === "") return undefined;
  const text = typeof password === "string" ? password : "";
  const bytes = utf8Length(text);
  if (bytes >= SHORTEST_PASSWORD && bytes <= LONGEST.password && !hasControl(text)) return undefined;
  // Anything else of this length can never join.
  if (text.length === KEY_DIGITS && isMadeOf(text, HEX)) return undefined;
  const range = `${SHORTEST_PASSWORD} to ${LONGEST.password} bytes or ${KEY_DIGITS} hexadecimal digits`;
  return {
    field: "password",
    reason: `the Wi-Fi's password must have ${range}, or none for an open network`,
  };
};

/** The problem of a password for the device's own access point. */
export const checkLabel = (label: string): Finding | undefined => {
  const bytes = utf8Length(label);
  if (bytes >= SHORTEST_PASSWORD && bytes <= LONGEST.label && !hasControl(label)) return undefined;
  const range = `${SHORTEST_PASSWORD} to ${LONGEST.label} bytes`;
  return { field: "label", reason: `the password of the device's own Wi-Fi must have ${range}` };
};

/**
 * All that is wrong with `values`, or missing. `wifi`: there is a radio that needs a network.
 * `unbound`: the result of `whyUnbound`.
 */
export const checkValues = (values: Values, wifi: boolean, unbound?: string): Finding[] => {
  const found: Finding[] = [];
  const network = wifi ? checkNetwork(values.ssid ?? "", values.password) : undefined;
  if (network) found.push(network);
  const target = parseTarget(values.url ?? "");
  if (!target.ok) found.push({ field: "url", reason: `the platform's address ${target.reason}` });
  if (values.ca && typeof readAuthorities(values.ca) === "string")
    found.push({ field: "ca", reason: readAuthorities(values.ca) as string });
  const identity = checkIdentity(values, unbound);
  if (identity) found.push(identity);
  const label = values.label ? checkLabel(values.label) : undefined;
  if (label) found.push(label);
  return found;
};

const checkIdentity = ({ token, key, secret }: Values, unbound?: string): Finding | undefined => {
  if (token) {
    const problem = checkToken(token);
    if (problem !== undefined) return { field: "token", reason: problem };
  } else if (!key && !secret)
    return {
      field: "token",
      reason: unbound ?? "an access token, or a provisioning key and its secret, is needed",
    };
  for (const [field, what, value, other] of [
    ["key", "key", key, secret],
    ["secret", "secret", secret, key],
  ] as const) {
    if (!value && other) return { field, reason: `the provisioning ${what} is missing` };
    if (value && (value.length > LONGEST.text || hasControl(value)))
      return { field, reason: `the provisioning ${what} must have 1 to ${LONGEST.text} characters` };
  }
  return undefined;
};

const AGAIN = "enter its access token, or a provisioning key and secret, again";

/**
 * Why the secrets in `before` must not be sent with `values`; undefined if they may, or if there
 * are none.
 *
 * A secret is bound to the address, the scheme and the CAs that it was entered with. Over http the
 * platform cannot prove its identity, so there a secret is also bound to its Wi-Fi, even after a
 * reset.
 */
export const whyUnbound = (before: Before, values: Values): string | undefined => {
  if (!before.token && !before.key && !before.secret) return undefined;
  if (!sameAddress(before.url, values.url))
    return `the device's credentials are for another platform: ${AGAIN}`;
  if (isHttp(values.url)) {
    const isSameNetwork = before.ssid === values.ssid && before.password === values.password;
    const isForgotten = checkNetwork(before.ssid, before.password) !== undefined;
    if (isSameNetwork || (isForgotten && before.isForgottenNetwork?.(values) !== false)) return undefined;
    return `over http the owner of this new Wi-Fi could read the device's credentials: ${AGAIN}`;
  }
  return sameAuthorities(before.ca, values.ca)
    ? undefined
    : `the device's credentials are for another CA certificate: ${AGAIN}`;
};

/**
 * The settings after `typed` was entered over `before`.
 *
 * Without a password, another network is open and the same network keeps its password. A token or a
 * key replaces all earlier credentials. Earlier secrets stay only where they are bound to
 * (`whyUnbound`): a visitor must not redirect them to a server of their own.
 */
export const mergeSettings = (before: Before, typed: Values): Values => {
  const ssid = typed.ssid || before.ssid;
  const password = typed.password || (ssid === before.ssid ? before.password : undefined);
  const url = typed.url || before.url;
  const ca = typed.ca === NO_CA ? undefined : typed.ca || before.ca;
  const isBound = whyUnbound(before, { ssid, password, url, ca }) === undefined;
  const key = typed.key || (isBound ? before.key : undefined);
  const secret = typed.secret || (isBound ? before.secret : undefined);
  const same = !typed.key && !typed.secret && isBound;
  const token = typed.token || (same ? before.token : undefined);
  return { ssid, password, url, ca, token, key, secret, label: typed.label || before.label };
};

/**
 * True if the token that was obtained with `before` is valid, and may be sent, with `values` too.
 */
export const sameIdentity = (before: Before, values: Values): boolean => {
  return (
    whyUnbound(before, values) === undefined &&
    before.token === values.token &&
    before.key === values.key &&
    before.secret === values.secret
  );
};

const isHttp = (url: string | undefined): boolean => {
  const parsed = parseTarget(url ?? "");
  return parsed.ok && !parsed.target.secure;
};

/** True for the same certificates in the same order, in any notation. */
const sameAuthorities = (one: string | undefined, other: string | undefined): boolean => {
  const [ours, theirs] = [readAuthorities(one ?? ""), readAuthorities(other ?? "")];
  if (typeof ours === "string" || typeof theirs === "string") return (one ?? "") === (other ?? "");
  return ours.join() === theirs.join();
};

/** The address as the agent stores it with a token; undefined if `url` is invalid. */
export const addressOf = (url: string | undefined): string | undefined => {
  const parsed = parseTarget(url ?? "");
  if (!parsed.ok) return undefined;
  const { secure, authority, prefix } = parsed.target;
  return `${secure ? "https" : "http"}://${authority}${prefix}`;
};

/** True if both are valid and have the same scheme and address. */
export const sameAddress = (one: string | undefined, other: string | undefined): boolean => {
  return addressOf(one) !== undefined && addressOf(one) === addressOf(other);
};
