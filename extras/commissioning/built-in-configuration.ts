// The `config` of a project's manifest, as built in and as changed by the owner.
import { type Before, sameAddress, type Values } from "./values.js";

export type Config = Readonly<Record<string, unknown>>;

/**
 * True if the owner must enter a network, a platform or credentials. Empty fields count as missing.
 */
export const isIncomplete = ({ wifi, baseUrl, token, provisioning }: Config): boolean => {
  const { ssid } = membersOf<{ ssid: unknown }>(wifi);
  const { key } = membersOf<{ key: unknown }>(provisioning);
  return wifi === undefined || ssid === "" || !baseUrl || !(token || key);
};

/** Adds the name that the factory gave this device, if any. */
export const withOwnName = (config: Config, name: string | undefined): Config => {
  if (!name) return config;
  return { ...config, provisioning: { ...membersOf<object>(config.provisioning), deviceName: name } };
};

/** The manifest's configuration, with stored values instead of built-in ones. */
export const withStoredSettings = (config: Config, stored: Values): Config => {
  const { ssid, password, url, token, key, secret } = stored;
  const { provisioning, token: builtToken, ...rest } = config;
  const built = membersOf<{ key: string }>(provisioning);
  // Credentials for the built-in platform are not sent to another one.
  const isThere = !config.baseUrl || url === undefined || sameAddress(url, config.baseUrl as string);
  const provisioned = key && secret ? { ...built, key, secret } : isThere ? built : { ...built, key: "" };
  return {
    ...rest,
    ...(isThere && builtToken !== undefined && { token: builtToken }),
    ...(ssid !== undefined && { wifi: { ssid, ...(password && { password }) } }),
    ...(url !== undefined && { baseUrl: url }),
    ...(provisioned.key && { provisioning: provisioned }),
    // With provisioning, the agent finds its token by itself, and a reset deletes it.
    ...(token !== undefined && { token: provisioned.key ? undefined : token }),
  };
};

/** Sets the second Wi-Fi: `kept`, null for none, or the built-in one if `kept` is undefined. */
export const withSecondWifi = (config: Config, built: Config, kept: object | null | undefined): Config => {
  const wifi = membersOf<{ ssid: string }>(config.wifi);
  if (!wifi.ssid) return config;
  const second = kept === undefined ? membersOf<{ second: object }>(built.wifi).second : (kept ?? undefined);
  return { ...config, wifi: { ...wifi, second } };
};

/** Initial values of the page. */
export const valuesOf = (config: Config, stored: Before): Before => {
  const { ssid, password } = membersOf<{ ssid: string; password: string }>(config.wifi);
  const { key, secret } = membersOf<{ key: string; secret: string }>(config.provisioning);
  const { baseUrl, token } = config as { baseUrl?: string; token?: string };
  return {
    ssid: ssid || undefined,
    password: password || undefined,
    url: baseUrl || undefined,
    ca: stored.ca,
    token: stored.token ?? token,
    key,
    secret,
    label: stored.label,
    isForgottenNetwork: stored.isForgottenNetwork,
  };
};

/** The members of `value`; none if it is not an object. */
export const membersOf = <T>(value: unknown): Partial<T> =>
  typeof value === "object" && value !== null ? (value as Partial<T>) : {};
