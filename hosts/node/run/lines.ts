// The lines of `mote run`: one event each, for people or for programs.
import { eventLine } from "../../shared/event-lines.js";
import type { Event } from "./messages.js";

export interface Output {
  write(text: string): unknown;
  on(event: "error", listener: () => void): unknown;
}

/** Of one text in a line, in characters. */
const LONGEST = 500;

/** Writes events as lines. Once nobody reads them any more, it is silent. */
export class Lines {
  readonly #output: Output;
  readonly #format: "text" | "json";
  readonly #secrets: readonly RegExp[];
  #open = true;

  /** None of `secrets` shows up in a line. */
  constructor(output: Output, format: "text" | "json", secrets: readonly string[]) {
    this.#output = output;
    this.#format = format;
    // The longest first: one may be part of another.
    const given = secrets.filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
    this.#secrets = given.map(finder);
    output.on("error", () => {
      this.#open = false;
    });
  }

  tell(event: Event): void {
    if (!this.#open) return;
    const clean = { ...(this.#clean(event) as Event), event: event.event };
    const line = this.#format === "json" ? JSON.stringify({ ts: Date.now(), ...clean }) : textLine(clean);
    this.#output.write(`${line}\n`);
  }

  /** A text without secrets. */
  clean(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replace(secret, "***");
    return clean;
  }

  /** Texts without secrets and not too long, also in lists. */
  #clean(value: unknown): unknown {
    if (typeof value === "string") {
      const text = this.clean(value);
      return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
    }
    if (Array.isArray(value)) return value.map((item) => this.#clean(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#clean(item)]));
  }
}

/** Of a secret: anywhere. One of less than 6 characters only where it stands alone: no line could be read otherwise. */
function finder(secret: string): RegExp {
  const literal = secret.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(secret.length < 6 ? `(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])` : literal, "g");
}

function textLine(event: Event): string {
  const time = new Date().toTimeString().slice(0, 8);
  return `${time}  ${printable(eventLine(event))}`;
}

/** A name that came by the network must not move the cursor of a terminal. */
function printable(text: string): string {
  let shown = "";
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0;
    shown += code < 0x20 || (code >= 0x7f && code < 0xa0) ? " " : letter;
  }
  return shown;
}
