import type { Digest, Store } from "../../src/port.js";

/**
 * The parts of the SDK's key-value storage (NVS) that are used, in format "buffer". All throw on
 * failure.
 */
export interface Domain {
  read(key: string): ArrayBuffer | undefined;
  write(key: string, value: Uint8Array): void;
  delete(key: string): void;
}

/** NVS namespaces of the agent and of the host. A factory writes both (tools/moddable/factory). */
export const AGENT = "mote";
export const OWN = "mote-host";
/** Host value that no reset deletes: the device's provisioning name. */
export const NAME = "name";
/** Host value: a person restarted the board. */
export const BY_HAND = "by-hand";

/** Escape for non-ASCII keys in NVS names. */
export interface Naming {
  encode(text: string): Uint8Array;
  digest(algorithm: string): Digest | undefined;
}

const LONGEST = 15;
const LARGEST = 4000;
/** Prefix of names that are digests. */
const HASHED = "~";

/**
 * Values in NVS: each write is atomic and durable on return, and writing the same value costs
 * nothing.
 */
export class NvsStore implements Store {
  private readonly _domain: Domain;
  private readonly _naming: Naming;

  constructor(domain: Domain, naming: Naming) {
    this._domain = domain;
    this._naming = naming;
  }

  get(key: string): Uint8Array | undefined {
    try {
      const value = this._domain.read(this._name(key));
      return value && new Uint8Array(value);
    } catch {
      return undefined;
    }
  }

  set(key: string, value: Uint8Array): boolean {
    const characters = [...key].length;
    if (characters === 0 || characters > LONGEST || value.length > LARGEST) return false;
    try {
      this._domain.write(this._name(key), value);
      return true;
    } catch {
      return false;
    }
  }

  delete(key: string): boolean {
    try {
      this._domain.delete(this._name(key));
      return true;
    } catch {
      return false;
    }
  }

  /** NVS names have 15 bytes: a longer key is replaced with 56 bits of its digest. */
  private _name(key: string): string {
    const bytes = this._naming.encode(key);
    if (bytes.length <= LONGEST && !key.startsWith(HASHED)) return key;
    const digest = this._naming.digest("SHA256");
    if (!digest) throw new Error("no SHA256");
    digest.write(bytes);
    let name = HASHED;
    for (const byte of digest.close().subarray(0, 7)) name += byte.toString(16).padStart(2, "0");
    return name;
  }
}
