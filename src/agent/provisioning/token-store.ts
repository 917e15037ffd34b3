// The access token in the store, and the one proposed while provisioning.
import type { Host, Redactor } from "../../port.js";
import { forgetStored, readStored, writeStored } from "../../store.js";
import { type Binding, Secret } from "../../wire/secret.js";
import { isObject, parseJson } from "../../wire/text/json.js";

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const LENGTH = 20;

/** Values of the store that hold secrets: the agent's, and those that commissioning keeps. */
const HOLDERS = ["token", "proposed", "new-token", "new-proposed", "wifi", "site", "commission"] as const;
const SECRETS = ["token", "key", "secret", "password"] as const;

/** Has the redactor know all secrets that are stored. A host calls it before its first line. */
export const pinStored = (host: Pick<Host, "store" | "decode">, redactor: Redactor): void => {
  for (const key of HOLDERS) {
    const bytes = host.store.get(key);
    const text = bytes && host.decode(bytes.subarray(1));
    const parsed = text === undefined ? undefined : parseJson(text);
    if (parsed?.ok) pinAll(parsed.value, redactor);
  }
};

/** Has the redactor know the members of `value` that are secrets by their names, at any depth. */
export const pinAll = (value: unknown, redactor: Redactor): void => {
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== "object" || next === null) continue;
    const members = next as Record<string, unknown>;
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === "string" && SECRETS.includes(name as "token")) redactor.pin(member);
      else if (typeof member === "object") waiting.push(member);
    }
  }
};

/** As it is stored beside a secret: `ca` is left out where no authorities are known. */
const storedBinding = ({ scheme, address, authorities }: Binding): { url: string; ca?: string } => ({
  url: `${scheme}://${address}`,
  ...(authorities !== undefined && { ca: authorities }),
});

/** A token is only ever handed out for what it is bound to: the base URL and the authorities that it was got by. */
export class TokenStore {
  private readonly _host: Host;
  private readonly _redactor: Redactor;
  private readonly _binding: Binding;
  /** A store that fails is logged once, however often it is tried. */
  private _failed = false;

  constructor(host: Host, redactor: Redactor, binding: Binding) {
    this._host = host;
    this._redactor = redactor;
    this._binding = binding;
    // Before the application, which can read them too, has its turn: whichever platform's they are.
    pinStored(host, redactor);
  }

  get(key: "token" | "proposed"): Secret | undefined {
    const value = readStored(this._host, key);
    if (!isObject(value)) return undefined;
    const { url, ca } = storedBinding(this._binding);
    const isOther = value.ca !== undefined && ca !== undefined && value.ca !== ca;
    if (value.url !== url || isOther) {
      const what = isOther ? "other certificates (CA)" : "another base URL";
      this._host.log("warn", `the stored ${key} belongs to ${what} and is not used`);
      return undefined;
    }
    // An image that knew of no binding kept it: it is bound now. That image reads it all the same if it returns.
    if (value.ca === undefined && ca !== undefined) writeStored(this._host, key, { ...value, ca });
    return typeof value.token === "string" ? new Secret(value.token, this._binding) : undefined;
  }

  /** A new random token, stored as proposed; undefined if that failed. */
  propose(): Secret | undefined {
    const letters = new Uint8Array(LENGTH);
    this._host.random(letters);
    let token = "";
    // 256 is no multiple of 56: the bias costs less than a bit of the 116.
    letters.forEach((letter) => {
      token += LETTERS.charAt(letter % LETTERS.length);
    });
    const proposed = new Secret(token, this._binding);
    return this._write("proposed", proposed) ? proposed : undefined;
  }

  /** From now on `token`, the device `name`'s, is the one in use; false if that could not be stored. */
  keep(token: Secret, name: string | undefined): boolean {
    return this._write("token", token, name);
  }

  private _write(key: string, secret: Secret, name?: string): boolean {
    const token = secret.reveal();
    this._redactor.pin(token);
    const value = { ...storedBinding(secret.binding), token, name };
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
