// Removes secrets from output: log lines, errors, attributes, telemetry, RPC answers, crash texts.
//
// Finds a secret as it is, percent-encoded, and escaped as in JSON. Clean a text before it is cut
// or split: of a cut secret, only a larger half at the end of the text is recognized.
import type { Redactor } from "../../port.js";
import { escapeText } from "../paths.js";
import { lowerCase } from "./characters.js";

/** Replaces a secret, or the JSON string that contains it. */
const HIDDEN = "***";
/**
 * Minimum length of a secret that is masked. Shorter ones, such as a claim key of two letters,
 * occur in any text, and masking them would protect nothing.
 */
const MIN_LENGTH = 6;
/** In an application's values, ignore shorter secrets: the text is likely to be something else. */
const MIN_IN_DATA = 8;
/** Maximum characters of all secrets that are not pinned. */
const MAX_CONCEALED = 1024;
/** Mask the rest of a text with more secrets than this, so that no text costs much. */
const MAX_MASKED = 16;
const CUT = "...";

/** Removes the secrets of device and application from output. A run has one redactor. */
export class SecretRedactor implements Redactor {
  /**
   * Pinned ones, then the others, oldest first. Private, so that logging this object shows none.
   */
  #secrets: string[] = [];
  /** What is searched for: each secret as it is and encoded. */
  #forms: string[] = [];
  /** The first characters of each form, in which a cut secret begins too. */
  #heads: string[] = [];
  private _pinned = 0;
  /** The range that `_find` found. */
  private _start = 0;
  private _end = 0;

  pin(secret: string): void {
    const at = this.#secrets.indexOf(secret);
    if (secret.length < MIN_LENGTH || (at >= 0 && at < this._pinned)) return;
    if (at >= 0) this.#secrets.splice(at, 1);
    this.#secrets.splice(this._pinned++, 0, secret);
    this._list();
  }

  conceal(secret: string): void {
    if (secret.length < MIN_LENGTH || this.#secrets.includes(secret)) return;
    this.#secrets.push(secret);
    let length = 0;
    let from = this.#secrets.length;
    // The newest one stays, however long it is.
    do length += (this.#secrets[--from] as string).length;
    while (from > this._pinned && length + (this.#secrets[from - 1] as string).length <= MAX_CONCEALED);
    this.#secrets.splice(this._pinned, from - this._pinned);
    this._list();
  }

  clean(text: string): string {
    let clean = "";
    let done = 0;
    for (let count = 0; this._find(text, done); count++) {
      clean += text.slice(done, this._start) + HIDDEN;
      if (count === MAX_MASKED) return clean;
      done = this._end;
    }
    return done === 0 ? text : clean + text.slice(done);
  }

  cleanJson(text: string, hasKnownNames = false): string {
    if (!this._isIn(text)) return text;
    let clean = "";
    let done = 0;
    let end = 0;
    for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', end)) {
      end = afterClosingQuote(text, open);
      if (end - open < MIN_IN_DATA || (hasKnownNames && text.charAt(end) === ":")) continue;
      if (!this._isIn(text.slice(open, end))) continue;
      clean += `${text.slice(done, open)}"${HIDDEN}"`;
      done = end;
    }
    return clean + text.slice(done);
  }

  private _list(): void {
    this.#forms = [];
    this.#heads = [];
    for (const secret of this.#secrets) {
      const escaped = escapeText(secret);
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), escaped, withLowerDigits(escaped)]) {
        if (this.#forms.includes(form)) continue;
        this.#forms.push(form);
        this.#heads.push(form.slice(0, MIN_LENGTH));
      }
    }
  }

  private _isIn(text: string): boolean {
    for (const form of this.#forms) if (form.length >= MIN_IN_DATA && text.includes(form)) return true;
    return false;
  }

  /** Finds the first secret in `text` from `from` on, with others that overlap it. */
  private _find(text: string, from: number): boolean {
    this._start = text.length;
    for (let i = 0; i < this.#forms.length; i++) this._findForm(text, from, i);
    const isFound = this._start < text.length;
    for (let end = 0; isFound && end !== this._end; ) {
      end = this._end;
      for (const form of this.#forms) {
        const at = text.indexOf(form, Math.max(this._start, end - form.length + 1));
        if (at >= 0 && at < end) this._end = Math.max(this._end, at + form.length);
      }
    }
    return isFound;
  }

  /** Sets the range to that of a form, if the text has the form before the range. */
  private _findForm(text: string, from: number, i: number): void {
    const form = this.#forms[i] as string;
    const head = this.#heads[i] as string;
    for (let at = text.indexOf(head, from); at >= 0 && at <= this._start; at = text.indexOf(head, at + 1)) {
      let end = at + form.length;
      if (!text.startsWith(form, at)) {
        end = at + head.length;
        while (end < text.length && text.charAt(end) === form.charAt(end - at)) end++;
        const isCut = end === text.length || text.startsWith(CUT, end);
        if (!isCut || (end - at) * 2 < form.length) continue;
      }
      if (at < this._start || end > this._end) this._end = end;
      this._start = at;
      return;
    }
  }
}

/** Percent-encoded text with the other spelling of its digits. */
const withLowerDigits = (escaped: string): string => {
  const parts = escaped.split("%");
  for (let i = 1; i < parts.length; i++) {
    const part = parts[i] as string;
    parts[i] = lowerCase(part.slice(0, 2)) + part.slice(2);
  }
  return parts.join("%");
};

/** Position after the quote that closes the string at `open`; the end of `text` if none does. */
const afterClosingQuote = (text: string, open: number): number => {
  let end = text.indexOf('"', open + 1);
  while (end >= 0) {
    let slashes = 0;
    while (text.charAt(end - 1 - slashes) === "\\") slashes++;
    if (slashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
};
