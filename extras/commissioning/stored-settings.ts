// Stores the settings of commissioning: `wifi`, and `platform` (base URL, certificates,
// provisioning key and secret). The access token is stored under the agent's own key, so that a
// reset deletes it. The password on the device's label is stored among the host's own values, which
// no reset deletes.
//
// All settings change together. They are first written as one value (`commission`), then copied to
// their keys. After a power loss, the next start completes the copy.

import type { Host, Store } from "../../src/port.js";
import { forgetStored, readStored, writeStored } from "../../src/store.js";
import { toHex } from "../../src/wire/crypto/hex.js";
import { isObject, type JsonObject } from "../../src/wire/text/json.js";
import { addressOf, type Before, checkNetwork, type Values } from "./values.js";

/** Keys of the agent. During a check, the new values have keys that begin with "new-". */
const TOKENS = ["token", "proposed"] as const;
/** The agent's mark of an interrupted reset, which the agent completes when it is created. */
const RESET = "reset";
/** Host value: password of the device's own access point, as on its label. */
export const LABEL = "label";
const WIFI = "wifi";
const PLATFORM = "platform";
const TOKEN = "token";
const CHANGE = "commission";
/** Hash of the settings that `new-token` was provisioned with. */
const CHECKED_FOR = "new-for";
/**
 * Hexadecimal digits of a mark: too many to guess at the page, too few to reveal the hashed
 * password.
 */
const MARK_DIGITS = 6;
const newKey = (key: string): string => `new-${key}`;

export interface SettingsHost extends Pick<Host, "store" | "digest" | "encode" | "decode" | "log"> {
  /** The host's own values; undefined on a host without an access point of its own. */
  readonly own?: Pick<Store, "get" | "set">;
}

/**
 * Completes a reset, by `complete`, and a change that a power loss interrupted. Call it at each
 * start before any setting is read or written, because the reset deletes settings.
 */
export const finishInterrupted = (host: SettingsHost, complete: () => void): void => {
  markNetwork(host);
  if (host.store.get(RESET)) complete();
  finishChange(host);
};

/**
 * Notes a hash of the Wi-Fi in `platform`, which survives a reset. Over http, secrets are bound to
 * this Wi-Fi, so that they are not sent through the Wi-Fi of the next owner.
 */
const markNetwork = (host: SettingsHost): void => {
  const network = markOf(host, members(readStored(host, WIFI)));
  const platform = readStored(host, PLATFORM);
  const before = isObject(platform) ? platform : {};
  if (network !== undefined && before.network !== network)
    writeStored(host, PLATFORM, { ...before, network });
};

/** Hash of the Wi-Fi; undefined if it cannot have been joined. */
const markOf = (host: SettingsHost, { ssid, password }: Values): string | undefined => {
  if (checkNetwork(ssid, password)) return undefined;
  const digest = host.digest("SHA256");
  digest?.write(host.encode(JSON.stringify([ssid, password])));
  return digest ? toHex(digest.close()).slice(0, MARK_DIGITS) : "unknown";
};

const finishChange = (host: SettingsHost): void => {
  const change = readStored(host, CHANGE);
  if (isObject(change)) completeChange(host, change);
};

/**
 * The stored settings. They include an entered token if it is for the stored base URL, or for `url`
 * if none is stored. They never include a provisioned token, which the agent finds by itself.
 */
export const readStoredSettings = (host: SettingsHost, url?: string): Before => {
  const wifi = members(readStored(host, WIFI));
  const platform = members(readStored(host, PLATFORM));
  const token = members(readStored(host, TOKEN));
  const address = addressOf(platform?.url ?? url);
  const isForgotten = host.store.get(RESET) !== undefined;
  const label = host.own?.get(LABEL);
  const isGiven = token?.name === undefined && token?.url === address && !isForgotten;
  return {
    ssid: wifi?.ssid,
    password: wifi?.password,
    url: platform?.url,
    ca: platform?.ca,
    key: platform?.key,
    secret: platform?.secret,
    token: isGiven ? token?.token : undefined,
    label: label && host.decode(label),
    ...(!wifi.ssid &&
      platform.network && { isForgottenNetwork: (values) => markOf(host, values) === platform.network }),
  };
};

/**
 * Replaces the settings with `values`. Unless `isSame`, replaces the token too, with the given one
 * or the one provisioned during the check. False, with nothing changed, if that failed.
 */
export const storeSettings = (host: SettingsHost, values: Values, isSame: boolean): boolean => {
  const { ssid, password, url, ca, key, secret, token, label } = values;
  const got = readStored(host, newKey(TOKEN));
  const given = token === undefined ? got : { url: addressOf(url), token };
  const before = storedWifi(host);
  // A new Wi-Fi may mean a new owner.
  const second = before.ssid === ssid ? before.second : undefined;
  const change = {
    wifi: ssid === undefined ? undefined : { ssid, password, second },
    platform: { url, ca, key, secret, network: markOf(host, values) },
    token: isSame ? undefined : given,
    label,
  };
  if (!writeStored(host, CHANGE, change)) return false;
  finishChange(host);
  return true;
};

type AccessPoint = Pick<Values, "ssid" | "password">;

/** Stores another first Wi-Fi beside the second, in one write; false if that failed. */
export const storeWifi = (host: SettingsHost, { ssid, password }: AccessPoint): boolean => {
  const { second } = storedWifi(host);
  const isStored = writeStored(host, WIFI, { ssid, ...(password && { password }), second });
  if (isStored) markNetwork(host);
  return isStored;
};

/** Stores another second Wi-Fi, or none, beside the first, in one write; false if that failed. */
export const storeSecondWifi = (host: SettingsHost, second: AccessPoint | undefined): boolean => {
  return writeStored(host, WIFI, { ...storedWifi(host), second: second ?? null });
};

/** The access token in use, given or provisioned; undefined if there is none. */
export const storedToken = (host: SettingsHost): string | undefined => members(readStored(host, TOKEN)).token;

/** The stored second Wi-Fi; null: none, regardless of built-in ones. */
export const storedSecond = (host: SettingsHost): AccessPoint | null | undefined => {
  const { second } = storedWifi(host);
  if (!isObject(second)) return second === null ? null : undefined;
  const { ssid, password } = second as AccessPoint;
  return checkNetwork(ssid, password) ? undefined : { ssid, password };
};

const storedWifi = (host: SettingsHost): JsonObject => {
  const wifi = readStored(host, WIFI);
  return isObject(wifi) ? wifi : {};
};

const completeChange = (host: SettingsHost, { wifi, platform, token, label }: JsonObject): void => {
  if (typeof label === "string" && host.own && !host.own.set(LABEL, host.encode(label))) return;
  if (isObject(wifi) && !writeStored(host, WIFI, wifi)) return;
  if (isObject(platform) && !writeStored(host, PLATFORM, platform)) return;
  if (isObject(token)) {
    if (!writeStored(host, TOKEN, token)) return;
    forgetStored(host, "proposed");
    // The agent's back-off after refusals of the old token.
    forgetStored(host, "refused");
  }
  for (const key of TOKENS) forgetStored(host, newKey(key));
  forgetStored(host, CHANGE);
};

/**
 * Deletes the token that an earlier check provisioned, unless that check had the same `values`.
 * Another visitor must not get it.
 */
export const discardOtherCheckedToken = (host: SettingsHost, values: Values): void => {
  const { url, ca, key, secret, ssid, password } = values;
  const digest = host.digest("SHA256");
  digest?.write(host.encode(JSON.stringify([url, ca, key, secret, ssid, password])));
  const identity = digest && toHex(digest.close());
  if (identity !== undefined && readStored(host, CHECKED_FOR) === identity) return;
  for (const name of TOKENS) forgetStored(host, newKey(name));
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
    return this._isSame ? key : newKey(key);
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
