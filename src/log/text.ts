// A line's text as it may be kept: nothing in it moves a cursor, none of the secrets that are known is in it, and it is not too long.
import type { Host } from "../port.js";
import { LONGEST } from "./ring.js";

/** In place of a line that would show a secret: all of it, as what stands around one says too much. */
const HIDDEN = "***";
/** In place of that, where it is itself a part of the secret. */
const HIDDEN_TOO = "(-)";
/** So many letters are in every line: they count as a secret only where they stand alone. */
const SHORT = 3;
/** Forms of secrets that are kept in mind; of more than those the first stay, which are the device's own, and the latest. */
const MOST = 64;
const FIRST = 16;
/** Of a longer one the beginning: who shows all of it shows that. */
const LONGEST_SECRET = 64;

export class Secrets {
  // Each as it is, and where that differs, as JSON has it and as an address does. A list that who logs this object does not show.
  readonly #forms: string[] = [];

  /** From now on no line shows it. */
  add(whole: string): void {
    const secret = whole.length > LONGEST_SECRET ? whole.slice(0, LONGEST_SECRET) : whole;
    if (secret === "" || this.#forms.includes(secret)) return;
    this._add(secret);
    this._add(JSON.stringify(secret).slice(1, -1));
    try {
      this._add(encodeURIComponent(secret));
    } catch {
      // Half a letter has no such form.
    }
  }

  private _add(form: string): void {
    if (this.#forms.includes(form)) return;
    if (this.#forms.length >= MOST) this.#forms.splice(FIRST, 1);
    this.#forms.push(form);
  }

  /** The line, or what stands for it. */
  clean(line: string): string {
    if (!this.#forms.some((form) => holds(line, form))) return line;
    return this.#forms.some((form) => holds(HIDDEN, form)) ? HIDDEN_TOO : HIDDEN;
  }
}

const holds = (line: string, secret: string): boolean =>
  secret.length > SHORT ? line.includes(secret) || endsWithPart(line, secret) : standsAlone(line, secret);

/** What was cut on its way here may end with the beginning of a secret: half of it and more. */
const endsWithPart = (line: string, secret: string): boolean => {
  const half = secret.slice(0, Math.max(SHORT + 1, Math.ceil(secret.length / 2)));
  const first = Math.max(0, line.length - secret.length + 1);
  for (let at = line.indexOf(half, first); at >= 0; at = line.indexOf(half, at + 1))
    if (secret.startsWith(line.slice(at))) return true;
  return false;
};

const standsAlone = (line: string, secret: string): boolean => {
  for (let at = line.indexOf(secret); at >= 0; at = line.indexOf(secret, at + 1))
    if (!isLetter(line.charAt(at - 1)) && !isLetter(line.charAt(at + secret.length))) return true;
  return false;
};

const isLetter = (char: string): boolean =>
  (char >= "0" && char <= "9") || (char >= "A" && char <= "Z") || (char >= "a" && char <= "z");

/** In one line: what a terminal would take for a command is written out. */
export const escaped = (line: string): string => {
  if (!hasControl(line)) return line;
  let text = "";
  for (const char of line) text += isControl(char.codePointAt(0)!) ? written(char.codePointAt(0)!) : char;
  return text;
};

/** Most lines have none, and are taken as they are: a text that grows letter by letter is a lot of garbage. */
const hasControl = (line: string): boolean => {
  for (const char of line) if (isControl(char.codePointAt(0)!)) return true;
  return false;
};

/** C0 and C1, and what changes the direction or ends a line. */
const isControl = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code < 0xa0) ||
  code === 0x061c ||
  (code >= 0x200e && code <= 0x200f) ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

const written = (code: number): string => {
  if (code === 0x0a) return "\\n";
  const digits = code.toString(16);
  return code < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
};

/** UTF-8 that is no longer than a line may be: cut between two letters. */
export const fitting = (host: Pick<Host, "encode">, text: string): Uint8Array => {
  const bytes = host.encode(text);
  if (bytes.length <= LONGEST) return bytes;
  let end = LONGEST;
  // Bytes within a letter.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
};
