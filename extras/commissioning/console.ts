// Commissioning over a serial line: lines in, lines out. What is typed is not sent back, so no secret is shown.
import type { Entry } from "./commissioning.js";
import type { Finding, Values } from "./values.js";

export interface ConsoleOptions {
  /** Of whoever is at this cable. */
  readonly entry: Entry;
  /** `text` is one or more whole lines. */
  write(text: string): void;
  /** Forgets Wi-Fi, token and all that waits, and restarts. */
  reset(): void;
  /** Keeps the password of the device's own access point; undefined where there is none. */
  readonly setLabel?: (password: string) => boolean;
}

type Deed = (console: Console, words: readonly string[]) => void;

const SET: Readonly<Record<string, readonly (keyof Values)[]>> = {
  wifi: ["ssid", "password"],
  url: ["url"],
  token: ["token"],
  provisioning: ["key", "secret"],
  ca: ["ca"],
};

const HELP = `set wifi SSID [PASSWORD]        the network; none for an open one
set url URL                     the platform
set token TOKEN                 the device's access token, or:
set provisioning KEY SECRET     let it register by itself
set ca                          the certificate of a private authority: paste its PEM; each line is answered by its number
set label PASSWORD              of this device's own access point, as on its label
show                            what is set, without secrets
reset                           forget Wi-Fi, token and all that waits, and restart
Quote what holds blanks: set wifi "My home" "pass \\"word\\"". It begins to connect as soon as nothing is missing.`;

const DEEDS: Readonly<Record<string, Deed>> = {
  help: (console) => console.say(HELP),
  show: (console) => console.show(),
  reset: (console) => console.reset(),
  set: (console, words) => console.set(words),
};

const SAID: Readonly<Record<string, string>> = {
  open: "open: waiting for what is missing; help shows how",
  checking: "checking ...",
  done: "connected, and kept",
  closed: "closed",
};

/** More than a certificate that can be kept. */
const PEM_LENGTH = 6000;
const PEM_END = "-----END CERTIFICATE-----";

export class Console {
  private readonly _options: ConsoleOptions;
  /** The lines of a certificate so far; undefined: none is being given. */
  private _pem: string[] | undefined;

  constructor(options: ConsoleOptions) {
    this._options = options;
  }

  /** One line, without its end; undefined: one that could not be read. */
  line(text: string | undefined): void {
    if (text === undefined) this._lost();
    else if (this._pem) this._certificate(this._pem, text);
    else this._command(text);
  }

  private _command(text: string): void {
    const words = splitWords(text);
    const [name = "", ...rest] = words ?? [];
    if (words?.length === 0) return;
    const deed = Object.hasOwn(DEEDS, name) ? DEEDS[name] : undefined;
    if (!words) this.say("a quote is not closed");
    else if (deed) deed(this, rest);
    else this.say("there is no such command; help lists them");
  }

  say(text: string): void {
    this._options.write(`${text}\n`);
  }

  /** What became of it; to be called when commissioning changed. */
  changed(): void {
    const { state, findings } = this._options.entry.view;
    this.say(findings.length > 0 && state === "open" ? said(findings) : (SAID[state] as string));
  }

  show(): void {
    const { state, wifi, ssid, url, has, findings } = this._options.entry.view;
    const setOrNot = (is: boolean): string => (is ? "set" : "not set");
    if (wifi)
      this.say(
        `wifi          ${ssid === "" ? "not set" : JSON.stringify(ssid)}, password ${setOrNot(has.password)}`,
      );
    this.say(`url           ${url === "" ? "not set" : url}, certificate ${has.ca ? "set" : "built in"}`);
    this.say(`token         ${setOrNot(has.token)}`);
    this.say(`provisioning  ${setOrNot(has.key && has.secret)}`);
    this.say(`state         ${state}`);
    if (findings.length > 0) this.say(said(findings));
  }

  reset(): void {
    this.say("forgotten; it restarts");
    this._options.reset();
  }

  set([what = "", ...values]: readonly string[]): void {
    const fields = Object.hasOwn(SET, what) ? (SET[what] as readonly (keyof Values)[]) : [];
    const enough = what === "wifi" ? [1, 2] : [fields.length];
    if (what === "label") this._label(values);
    else if (what === "ca" && values.length === 0) this._beginCertificate();
    else if (fields.length === 0 || !enough.includes(values.length) || values.includes(""))
      this.say("set wifi SSID [PASSWORD], set url URL, set token TOKEN; help lists all");
    else this._give(Object.fromEntries(fields.map((field, i) => [field, values[i]])));
  }

  private _give(typed: Values): void {
    if (!this._options.entry.give(typed)) this.say("not now: it is checking");
  }

  private _beginCertificate(): void {
    this._pem = [];
    this.say(`paste the certificate, to its line ${PEM_END}; a line with a dot gives up`);
  }

  /** Each line has its answer: who sends faster than the line is read sees where one is missing. */
  private _certificate(lines: string[], text: string): void {
    const line = text.trim();
    lines.push(line);
    this._pem = undefined;
    if (line === ".") this.say("given up");
    else if (lines.join("\n").length > PEM_LENGTH) this.say("that is longer than a certificate");
    else if (line === PEM_END) this._give({ ca: lines.join("\n") });
    else {
      this._pem = lines;
      this.say(String(lines.length));
    }
  }

  private _lost(): void {
    const wasPasting = this._pem !== undefined;
    this._pem = undefined;
    this.say(
      wasPasting
        ? "a line of the certificate was lost: set ca again, line by line"
        : "that line can't be read",
    );
  }

  private _label(values: readonly string[]): void {
    const { setLabel } = this._options;
    const [password = ""] = values;
    if (!setLabel || values.length !== 1) this.say("set label PASSWORD");
    else
      this.say(
        setLabel(password)
          ? "kept; it holds from the next start on"
          : "8 to 63 characters, letters without blanks",
      );
  }
}

const said = (findings: readonly Finding[]): string => findings.map(({ reason }) => `! ${reason}`).join("\n");

/** Words between blanks; quoted ones may hold blanks, and \ keeps the letter behind it. Undefined: a quote is not closed. */
export const splitWords = (line: string): string[] | undefined => {
  const words: string[] = [];
  let word = "";
  let quote = "";
  let isWord = false;
  let isEscaped = false;
  for (const letter of line) {
    if (isEscaped) {
      word += letter;
      isEscaped = false;
    } else if (letter === "\\" && quote !== "'") isEscaped = isWord = true;
    else if (quote !== "") {
      if (letter === quote) quote = "";
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      isWord = true;
    } else if (letter !== " " && letter !== "\t") {
      word += letter;
      isWord = true;
    } else if (isWord) {
      words.push(word);
      word = "";
      isWord = false;
    }
  }
  if (quote !== "" || isEscaped) return undefined;
  if (isWord) words.push(word);
  return words;
};
