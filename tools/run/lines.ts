// The lines of `mote run`: one event each, for people or for programs.

import { BoundedOutput, leftOutLine, type Sink } from "../../hosts/node/bounded-output.js";
import { eventLine } from "../../hosts/shared/event-lines.js";
import type { Event } from "./messages.js";

/** A text without secrets. */
export type Redact = (text: string) => string;

/** Of one text in a line, in characters. */
const LONGEST = 500;

/** Writes events as lines: all that a device on Node prints goes through here, and through `redact`. */
export class Lines {
  readonly #output: BoundedOutput<string>;
  readonly #format: "text" | "json";
  readonly clean: Redact;

  constructor(output: Sink<string>, format: "text" | "json", redact: Redact) {
    this.#output = new BoundedOutput(output, (count) =>
      this.#line({ event: "log", level: "warn", line: leftOutLine(count) }),
    );
    this.#format = format;
    this.clean = redact;
  }

  tell(event: Event): void {
    this.#output.write(this.#line({ ...(this.#clean(event) as Event), event: event.event }));
  }

  #line(event: Event): string {
    const line = this.#format === "json" ? JSON.stringify({ ts: Date.now(), ...event }) : textLine(event);
    return `${line}\n`;
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

/** Puts *** in the place of each of these secrets. */
export function hiding(secrets: readonly string[]): Redact {
  // The longest first: one may be part of another.
  const given = secrets.filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
  const finders = given.map(finder);
  return (text) => finders.reduce((clean, secret) => clean.replace(secret, "***"), text);
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
