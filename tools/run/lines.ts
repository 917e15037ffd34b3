// The lines of `mote run`: one event each, for people or for programs.

import { eventLine } from "../../hosts/device/event-lines.js";
import { BoundedOutput, leftOutLine, type Sink } from "../../hosts/node/bounded-output.js";
import { SecretRedactor } from "../../src/board-module.js";
import type { Redactor } from "../../src/port.js";
import type { Event } from "./messages.js";

/** Of one text in a line, in characters. */
const LONGEST = 500;

/** Writes events as lines. All output of a device on Node passes here and the redactor. */
export class Lines {
  readonly #output: BoundedOutput<string>;
  readonly #format: "text" | "json";
  /** What it is told of shows in no line from then on. */
  readonly redactor: Redactor;

  constructor(output: Sink<string>, format: "text" | "json", redactor: Redactor) {
    this.#output = new BoundedOutput(output, (count) =>
      this.#line({ event: "log", level: "warn", line: leftOutLine(count) }),
    );
    this.#format = format;
    this.redactor = redactor;
  }

  /** A text that shows no secret. */
  clean(text: string): string {
    return this.redactor.clean(text);
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
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.clean(name), this.#clean(item)]),
    );
  }
}

/** Hides these secrets, and those that it is told of later. */
export function hiding(secrets: readonly string[]): SecretRedactor {
  const redactor = new SecretRedactor();
  for (const secret of secrets) redactor.pin(secret);
  return redactor;
}

function textLine(event: Event): string {
  const time = new Date().toTimeString().slice(0, 8);
  // A name from the network must not move the cursor of a terminal.
  return `${time}  ${eventLine(event).replace(/\p{Cc}/gu, " ")}`;
}
