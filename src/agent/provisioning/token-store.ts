// The access token in the store, and the one proposed while provisioning.
import type { Host } from "../../port.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const LENGTH = 20;

/** A token is only ever handed out for the base URL that it was got from. */
export class TokenStore {
  private readonly _host: Host;
  private readonly _base: string;
  /** A store that fails is logged once, however often it is tried. */
  private _failed = false;

  constructor(host: Host, base: string) {
    this._host = host;
    this._base = base;
    // Before the application, which can read them too, has its turn: whichever platform's they are.
    if (host.conceal) for (const key of ["token", "proposed"]) this._concealStored(key);
  }

  private _concealStored(key: string): void {
    const value = readStored(this._host, key);
    if (isObject(value) && typeof value.token === "string") this._concealed(value.token);
  }

  get(key: "token" | "proposed"): string | undefined {
    const value = readStored(this._host, key);
    if (!isObject(value)) return undefined;
    if (value.url !== this._base) {
      this._host.log("warn", `the stored ${key} belongs to another base URL and is not used`);
      return undefined;
    }
    return typeof value.token === "string" ? value.token : undefined;
  }

  /** A new random token, stored as proposed; undefined if that failed. */
  propose(): string | undefined {
    const letters = new Uint8Array(LENGTH);
    this._host.random(letters);
    let token = "";
    // 256 is no multiple of 56: the bias costs less than a bit of the 116.
    letters.forEach((letter) => {
      token += LETTERS.charAt(letter % LETTERS.length);
    });
    return this._write("proposed", { url: this._base, token: this._concealed(token) }) ? token : undefined;
  }

  /** From now on `token`, the device `name`'s, is the one in use; false if that could not be stored. */
  keep(token: string, name: string | undefined): boolean {
    return this._write("token", { url: this._base, token: this._concealed(token), name });
  }

  private _concealed(token: string): string {
    this._host.conceal?.(token);
    return token;
  }

  private _write(key: string, value: object): boolean {
    const written = writeStored(this._host, key, value, this._failed);
    this._failed = !written;
    return written;
  }

  /** The name under which the token in use was got. */
  get name(): string | undefined {
    const value = readStored(this._host, "token");
    return isObject(value) && typeof value.name === "string" ? value.name : undefined;
  }

  /** Nothing is proposed any more. */
  proven(): void {
    this._host.store.delete("proposed");
  }

  /** False if the store keeps any of them. */
  forget(): boolean {
    const gone = forgetStored(this._host, "token");
    return forgetStored(this._host, "proposed") && gone;
  }
}
