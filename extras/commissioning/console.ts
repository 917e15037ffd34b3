// Commissioning over a serial line: one command per line, one answer per command. Input is not
// echoed, so no secret appears on the screen.
import type { Entry } from "./commissioning.js";
import type { Finding, Values } from "./values.js";

export interface ConsoleOptions {
  /** Collects the settings that this cable enters. */
  readonly entry: Entry;
  /** `text` is one or more whole lines. */
  write(text: string): void;
  /** Resets the device (Wi-Fi, token, waiting telemetry) and restarts it. */
  reset(): void;
  /**
   * Stores the password of the device's own access point; false if it is invalid. Undefined without
   * an access point.
   */
  readonly setLabel?: (password: string) => boolean;
}

type Action = (console: Console, words: readonly string[]) => void;

/** The fields that `set NAME` takes, in this order. */
const SET_FIELDS: Readonly<Record<string, readonly (keyof Values)[]>> = {
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
set ca                          the certificate of a private CA: paste its PEM; each line is answered by its number
set label PASSWORD              the password of this device's own access point, as on its label
show                            show the settings, without secrets
reset                           delete Wi-Fi, token and undelivered telemetry, and restart
Quote values that contain spaces: set wifi "My home" "pass \\"word\\"". The device connects as soon as all values are set.`;

const ACTIONS: Readonly<Record<string, Action>> = {
  help: (console) => console.say(HELP),
  show: (console) => console.show(),
  reset: (console) => console.reset(),
  set: (console, words) => console.set(words),
};

/** The answer to each change of the state. */
const STATE_TEXTS: Readonly<Record<string, string>> = {
  open: "open: waiting for the missing settings; type help",
  checking: "checking ...",
  done: "connected; settings saved",
  closed: "closed",
};

/** Longer than any certificate that can be stored. */
const PEM_LENGTH = 6000;
const PEM_END = "-----END CERTIFICATE-----";

export class Console {
  private readonly _options: ConsoleOptions;
  /** Lines of the certificate that is being pasted; undefined: none is. */
  private _pem: string[] | undefined;

  constructor(options: ConsoleOptions) {
    this._options = options;
  }

  /** Takes one line without its line end; undefined if the line could not be decoded. */
  line(text: string | undefined): void {
    if (text === undefined) this._lost();
    else if (this._pem) this._certificate(this._pem, text);
    else this._command(text);
  }

  private _command(text: string): void {
    const words = splitWords(text);
    const [name = "", ...rest] = words ?? [];
    if (words?.length === 0) return;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!words) this.say("a quote is not closed");
    else if (action) action(this, rest);
    else this.say("unknown command; type help for a list");
  }

  say(text: string): void {
    this._options.write(`${text}\n`);
  }

  /** Prints the new state. Call after each change of the commissioning. */
  changed(): void {
    const { state, findings } = this._options.entry.view;
    this.say(
      findings.length > 0 && state === "open" ? findingLines(findings) : (STATE_TEXTS[state] as string),
    );
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
    if (findings.length > 0) this.say(findingLines(findings));
  }

  reset(): void {
    this.say("settings deleted; restarting");
    this._options.reset();
  }

  set([what = "", ...values]: readonly string[]): void {
    const fields = Object.hasOwn(SET_FIELDS, what) ? (SET_FIELDS[what] as readonly (keyof Values)[]) : [];
    const enough = what === "wifi" ? [1, 2] : [fields.length];
    if (what === "label") this._label(values);
    else if (what === "ca" && values.length === 0) this._beginCertificate();
    else if (fields.length === 0 || !enough.includes(values.length) || values.includes(""))
      this.say("set wifi SSID [PASSWORD], set url URL, set token TOKEN; help lists all");
    else this._give(Object.fromEntries(fields.map((field, i) => [field, values[i]])));
  }

  private _give(typed: Values): void {
    if (!this._options.entry.give(typed)) this.say("busy: still checking the earlier settings");
  }

  private _beginCertificate(): void {
    this._pem = [];
    this.say(`paste the certificate, up to its line ${PEM_END}; cancel with a line that is a single dot`);
  }

  /** Answers each line with its number, so that a lost line is noticed at once. */
  private _certificate(lines: string[], text: string): void {
    const line = text.trim();
    lines.push(line);
    this._pem = undefined;
    if (line === ".") this.say("cancelled");
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
      wasPasting ? "a line of the certificate was lost: set ca again, line by line" : "unreadable line",
    );
  }

  private _label(values: readonly string[]): void {
    const { setLabel } = this._options;
    const [password = ""] = values;
    if (!setLabel || values.length !== 1) this.say("set label PASSWORD");
    else
      this.say(
        setLabel(password)
          ? "saved; in use from the next start"
          : "the password must have 8 to 63 characters, without spaces",
      );
  }
}

const findingLines = (findings: readonly Finding[]): string =>
  findings.map(({ reason }) => `! ${reason}`).join("\n");

/**
 * Splits a line at blanks. Words in quotes may contain blanks; \ escapes the next letter. Undefined
 * if a quote is not closed.
 */
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
