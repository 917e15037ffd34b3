import Resource from "Resource";

/**
 * Reads the CAs of a configuration's `ca` from ROM: one name, several, or none (then the image's
 * own).
 */
export const builtInAuthorities = (names: unknown): Uint8Array[] => {
  const list: unknown[] = Array.isArray(names) ? names : names === undefined ? [] : [names];
  return list.map((name) => new Uint8Array(new Resource(String(name)) as unknown as ArrayBuffer));
};
