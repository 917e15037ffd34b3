import type { Digest, Store } from "../../src/port.js";

/** What is used of a name space of the SDK's key-value storage (NVS), with format "buffer". All of it throws on failure. */
export interface Domain {
  read(key: string): ArrayBuffer | undefined;
  write(key: string, value: Uint8Array): void;
  delete(key: string): void;
}

/** Name spaces of NVS: what the agent keeps, and what the host does. A factory writes both (tools/moddable/factory). */
export const AGENT = "mote";
export const OWN = "mote-host";
/** Of the host: the password of the device's own access point, as on its label, and the name that it provisions with. No reset forgets them. */
export const LABEL = "label";
export const NAME = "name";
/** Of the host: somebody at the board had it restart. */
export const BY_HAND = "by-hand";

/** What a key of other than ASCII needs to become a name in NVS. */
export interface Naming {
  encode(text: string): Uint8Array;
  digest(algorithm: string): Digest | undefined;
}

const LONGEST = 15;
const LARGEST = 4000;
/** Begins the names that are digests. */
const HASHED = "~";

/** Values in NVS: each write is durable on return, the old value stays until the new one is whole, and the same value costs no write. */
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

  /** NVS has names of 15 bytes: a key that is longer in UTF-8 goes by 56 bits of its digest. */
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
