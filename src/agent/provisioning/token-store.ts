// The access token in the store, and the proposed one during provisioning.
import type { Host, Redactor } from "../../port.js";
import { jsonIn } from "../../sealed.js";
import { deleteStored, forgetStored, readStored, writeStored } from "../../store.js";
import { type Binding, Secret } from "../../wire/secret.js";
import { isObject } from "../../wire/text/json.js";

const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const LENGTH = 20;

/** Stored values of the agent and of commissioning that contain secrets. */
const HOLDERS = ["token", "proposed", "new-token", "new-proposed", "wifi", "platform", "commission"] as const;
const SECRETS = ["token", "key", "secret", "password"] as const;

/** Makes all stored secrets known to the redactor. A host calls this before its first log line. */
export const pinStored = (host: Pick<Host, "store" | "decode">, redactor: Redactor): void => {
  for (const key of HOLDERS) {
    const bytes = host.store.get(key);
    if (bytes) pinAll(jsonIn(host, bytes), redactor);
  }
};

/** Makes the secret members of `value` known to the redactor, by name and at any depth. */
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

/** Stored tokens, used only with the base URL and CAs that they were obtained with. */
export class TokenStore {
  private readonly _host: Host;
  private readonly _redactor: Redactor;
  private readonly _binding: Binding;

  constructor(host: Host, redactor: Redactor, binding: Binding) {
    this._host = host;
    this._redactor = redactor;
    this._binding = binding;
    // Before the application runs, because it can read these secrets: pin them for all platforms.
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
    // An entered token has no CA yet: bind it at its first use.
    if (value.ca === undefined && ca !== undefined) writeStored(this._host, key, { ...value, ca });
    return typeof value.token === "string" ? new Secret(value.token, this._binding) : undefined;
  }

  /** Creates and stores a new random token as proposed; undefined if storing failed. */
  propose(): Secret | undefined {
    const letters = new Uint8Array(LENGTH);
    this._host.random(letters);
    let token = "";
    // 256 is not a multiple of 56, but the bias costs less than one of the 116 bits.
    letters.forEach((letter) => {
      token += LETTERS.charAt(letter % LETTERS.length);
    });
    const proposed = new Secret(token, this._binding);
    return this._write("proposed", proposed) ? proposed : undefined;
  }

  /** Stores `token` of device `name` as the one in use; false if that failed. */
  save(token: Secret, name: string | undefined): boolean {
    return this._write("token", token, name);
  }

  private _write(key: string, secret: Secret, name?: string): boolean {
    const token = secret.reveal();
    this._redactor.pin(token);
    const value = { ...storedBinding(secret.binding), token, name };
    return writeStored(this._host, key, value);
  }

  /** Device name that the token in use was obtained with. */
  get name(): string | undefined {
    const value = readStored(this._host, "token");
    return isObject(value) && typeof value.name === "string" ? value.name : undefined;
  }

  /** Deletes the proposed token. */
  deleteProposed(): void {
    deleteStored(this._host, "proposed");
  }

  /** False if the store keeps a token. */
  forget(): boolean {
    const gone = forgetStored(this._host, "token");
    return forgetStored(this._host, "proposed") && gone;
  }
}
