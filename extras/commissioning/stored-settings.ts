// What commissioning keeps, beside what the agent itself keeps: `wifi`, and `site` (base URL, certificates, provisioning key and secret). The
// access token is kept as the agent keeps its own, so that a reset forgets it.
//
// All of it changes at once: it is first written as one value, then to its places, and a start goes on with what a power loss left.

import type { Host, Store } from "../../src/port.js";
import { forgetStored, readStored, writeStored } from "../../src/store.js";
import { toHex } from "../../src/wire/crypto/hex.js";
import { isObject, type JsonObject } from "../../src/wire/text/json.js";
import { addressOf, type Before, checkNetwork, type Values } from "./values.js";

/** Keys of the agent, and their new values during a check. */
const TOKENS = ["token", "proposed"] as const;
/** The agent's mark of an interrupted reset, which the agent completes when it is created. */
const RESET = "reset";
const WIFI = "wifi";
const SITE = "site";
const TOKEN = "token";
const CHANGE = "commission";
/** Hash of the settings that `new-token` was provisioned with. */
const CHECKED_FOR = "new-for";
/**
 * Hexadecimal digits of a mark: too many to guess at the page, too few to reveal the hashed
 * password.
 */
const MARK_DIGITS = 6;
const fresh = (key: string): string => `new-${key}`;

export type Keeper = Pick<Host, "store" | "digest" | "encode" | "decode" | "log">;

/**
 * Finishes what a power loss left half done: a reset, by `complete`, and a change. To be called at each start, before anything is read. What a
 * reset is to forget must neither be read nor written before.
 */
export const finishInterrupted = (host: Keeper, complete: () => void): void => {
  noteNetwork(host);
  if (host.store.get(RESET)) complete();
  finish(host);
};

/**
 * Marks the Wi-Fi in `site`, which a reset leaves: over http, secrets are bound to that Wi-Fi, and the next owner's
 * Wi-Fi must not get them.
 */
const noteNetwork = (host: Keeper): void => {
  const network = markOf(host, members(readStored(host, WIFI)));
  const site = readStored(host, SITE);
  const before = isObject(site) ? site : { bound: true };
  if (network !== undefined && before.network !== network) writeStored(host, SITE, { ...before, network });
};

/** Undefined without a Wi-Fi that can have been joined. */
const markOf = (host: Keeper, { ssid, password }: Values): string | undefined => {
  if (checkNetwork(ssid, password)) return undefined;
  const digest = host.digest("SHA256");
  digest?.write(host.encode(JSON.stringify([ssid, password])));
  return digest ? toHex(digest.close()).slice(0, MARK_DIGITS) : "unknown";
};

const finish = (host: Keeper): void => {
  const change = readStored(host, CHANGE);
  if (isObject(change)) apply(host, change);
  bindAnew(host);
};

/**
 * An image that knows of no bindings may have kept another CA for a token of ours: what it kept is bound by the next
 * agent, as all that is older. The tokens come first, so that a power loss between has it done once more.
 */
const bindAnew = (host: Keeper): void => {
  const site = readStored(host, SITE);
  if (!isObject(site) || site.bound === true) return;
  for (const key of TOKENS) {
    const token = readStored(host, key);
    if (isObject(token) && token.ca !== undefined && !writeStored(host, key, { ...token, ca: undefined }))
      return;
  }
  writeStored(host, SITE, { ...site, bound: true });
};

/**
 * The stored settings. Includes the token only if it belongs to the stored base URL or `url` and
 * was given: a provisioned token has a name beside it, and the agent finds it by itself.
 */
export const readStoredSettings = (host: Keeper, url?: string): Before => {
  const wifi = members(readStored(host, WIFI));
  const site = members(readStored(host, SITE));
  const token = members(readStored(host, TOKEN));
  const address = addressOf(site?.url ?? url);
  const isForgotten = host.store.get(RESET) !== undefined;
  const isGiven = token?.name === undefined && token?.url === address && !isForgotten;
  return {
    ssid: wifi?.ssid,
    password: wifi?.password,
    url: site?.url,
    ca: site?.ca,
    key: site?.key,
    secret: site?.secret,
    token: isGiven ? token?.token : undefined,
    ...(!wifi.ssid &&
      site.network && { isForgottenNetwork: (values) => markOf(host, values) === site.network }),
  };
};

/**
 * Replaces the settings with `values`. Unless `isSame`, replaces the token too, with the given one
 * or the one provisioned during the check. False, with nothing changed, if that failed.
 */
export const keep = (host: Keeper, values: Values, isSame: boolean): boolean => {
  const { ssid, password, url, ca, key, secret, token } = values;
  const got = readStored(host, fresh(TOKEN));
  const given = token === undefined ? got : { url: addressOf(url), token };
  const before = storedWifi(host);
  // A new Wi-Fi may mean a new owner.
  const second = before.ssid === ssid ? before.second : undefined;
  const change = {
    wifi: ssid === undefined ? undefined : { ssid, password, second },
    site: { url, ca, key, secret, bound: true, network: markOf(host, values) },
    token: isSame ? undefined : given,
  };
  if (!writeStored(host, CHANGE, change)) return false;
  finish(host);
  return true;
};

type AccessPoint = Pick<Values, "ssid" | "password">;

/** Stores another first Wi-Fi beside the second, in one write; false if that failed. */
export const keepWifi = (host: Keeper, { ssid, password }: AccessPoint): boolean => {
  const { second } = storedWifi(host);
  const isKept = writeStored(host, WIFI, { ssid, ...(password && { password }), second });
  if (isKept) noteNetwork(host);
  return isKept;
};

/** Stores another second Wi-Fi, or none, beside the first, in one write; false if that failed. */
export const keepSecond = (host: Keeper, second: AccessPoint | undefined): boolean => {
  return writeStored(host, WIFI, { ...storedWifi(host), second: second ?? null });
};

/** The access token in use, given or provisioned; undefined if there is none. */
export const storedToken = (host: Keeper): string | undefined => members(readStored(host, TOKEN)).token;

/** The stored second Wi-Fi; null: none, regardless of built-in ones. */
export const storedSecond = (host: Keeper): AccessPoint | null | undefined => {
  const { second } = storedWifi(host);
  if (!isObject(second)) return second === null ? null : undefined;
  const { ssid, password } = second as AccessPoint;
  return checkNetwork(ssid, password) ? undefined : { ssid, password };
};

const storedWifi = (host: Keeper): JsonObject => {
  const wifi = readStored(host, WIFI);
  return isObject(wifi) ? wifi : {};
};

const apply = (host: Keeper, { wifi, site, token }: JsonObject): void => {
  if (isObject(wifi) && !writeStored(host, WIFI, wifi)) return;
  if (isObject(site) && !writeStored(host, SITE, site)) return;
  if (isObject(token)) {
    if (!writeStored(host, TOKEN, token)) return;
    forgetStored(host, "proposed");
  }
  for (const key of TOKENS) forgetStored(host, fresh(key));
  forgetStored(host, CHANGE);
};

/**
 * Forgets the token that an earlier check provisioned, unless `values` are the ones that it was checked with:
 * it belongs to their address, CA, key, secret and Wi-Fi, and to no other visitor's.
 */
export const keepCheckedTokenFor = (host: Keeper, values: Values): void => {
  const { url, ca, key, secret, ssid, password } = values;
  const digest = host.digest("SHA256");
  digest?.write(host.encode(JSON.stringify([url, ca, key, secret, ssid, password])));
  const identity = digest && toHex(digest.close());
  if (identity !== undefined && readStored(host, CHECKED_FOR) === identity) return;
  for (const name of TOKENS) forgetStored(host, fresh(name));
  if (identity !== undefined) writeStored(host, CHECKED_FOR, identity);
};

/**
 * The store of an agent that only checks: its values are discarded, except a provisioned token,
 * which the platform would not issue twice. With `isSame` it is the device's own; otherwise it has
 * another key until the settings are stored.
 */
export class CheckStore implements Store {
  private readonly _store: Store;
  private readonly _isSame: boolean;
  private readonly _values = new Map<string, Uint8Array>();

  constructor(store: Store, isSame: boolean) {
    this._store = store;
    this._isSame = isSame;
  }

  get(key: string): Uint8Array | undefined {
    return isToken(key) ? this._store.get(this._name(key)) : this._values.get(key);
  }

  set(key: string, value: Uint8Array): boolean {
    if (isToken(key)) return this._store.set(this._name(key), value);
    this._values.set(key, value.slice());
    return true;
  }

  delete(key: string): boolean {
    return isToken(key) ? this._store.delete(this._name(key)) : this._values.delete(key) || true;
  }

  private _name(key: string): string {
    return this._isSame ? key : fresh(key);
  }
}

const isToken = (key: string): boolean => TOKENS.includes(key as (typeof TOKENS)[number]);

/** The members that are strings. */
const members = (value: unknown): Record<string, string> => {
  const texts: Record<string, string> = {};
  if (!isObject(value as never)) return texts;
  for (const name of Object.keys(value as object)) {
    const text = (value as JsonObject)[name];
    if (typeof text === "string" && text !== "") texts[name] = text;
  }
  return texts;
};
