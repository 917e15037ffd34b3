// The states of commissioning, and the effect of each step. Knows no network and no page.
import type { Clock } from "../../src/port.js";
import {
  type Before,
  checkValues,
  type Finding,
  mergeSettings,
  SECRETS,
  sameIdentity,
  type Values,
  whyUnbound,
} from "./values.js";

/**
 * `closed`: accepts nothing. `open`: waits for the owner. `checking`: connects with the settings.
 * `done`: stored; shown for a moment.
 */
export type State = "closed" | "open" | "checking" | "done";
type Trigger = "open" | "given" | "good" | "bad" | "over" | "close";

/**
 * The next state; missing events change nothing. A check in progress continues after the time
 * limit.
 */
const NEXT: { readonly [S in State]: { readonly [T in Trigger]?: State } } = {
  closed: { open: "open" },
  open: { given: "checking", over: "closed", close: "closed" },
  checking: { good: "done", bad: "open", close: "closed" },
  done: { over: "closed", close: "closed" },
} as const;

const OPEN_MS = 600_000;
/** Time for the owner to read the result. */
const DONE_MS = 10_000;

export interface CommissioningOptions {
  readonly clock: Clock;
  /** The stored or built-in settings. */
  readonly before: Before;
  /** Why the device cannot start with them, for people; shown until new settings are entered. */
  readonly wrong?: string | undefined;
  /**
   * Connects with `values`. Resolves with the problem, undefined if there is none. Must not reject.
   * `report`: describes the current step.
   */
  check(values: Values, isSame: boolean, report: (stage: string) => void): Promise<Finding | undefined>;
  /** Stores the settings; false if that failed. */
  storeSettings(values: Values, isSame: boolean): boolean;
  /** Called once at the end. `done`: new settings were stored. */
  closed(done: boolean): void;
  /** Default: 10 minutes. */
  readonly openMs?: number;
}

/** Data for page and Improv. Contains no secret, nor the length of one. */
export interface View {
  readonly state: State;
  /** During a check. */
  readonly stage: string;
  readonly findings: readonly Finding[];
  /** Non-secret values, as entered last or stored. */
  readonly ssid: string;
  readonly url: string;
  /** Which secrets exist. */
  readonly has: { readonly [F in "password" | "ca" | "token" | "key" | "secret" | "label"]: boolean };
}

/** Values of one visitor (a browser or a cable). They are never combined with another visitor's. */
export interface Entry {
  readonly view: View;
  /**
   * Adds to earlier values and starts the check if nothing is missing. False if that is not
   * possible now.
   */
  give(typed: Values): boolean;
}

export class Commissioning {
  private readonly _options: CommissioningOptions;
  private _state: State = "closed";
  private _findings: readonly Finding[] = [];
  private _stage = "";
  private _isOver = false;
  private _cancel: () => void = () => {};
  private readonly _onChange: (() => void)[] = [];

  constructor(options: CommissioningOptions) {
    this._options = options;
    if (options.wrong !== undefined)
      this._findings = [{ field: "url", reason: `the configuration is wrong: ${options.wrong}` }];
  }

  get state(): State {
    return this._state;
  }

  /** Creates the entry of another visitor. `onChange`: called after each change of the state. */
  entry(onChange?: () => void): Entry {
    if (onChange) this._onChange.push(onChange);
    return new VisitorEntry(this);
  }

  /** The view of a visitor who entered nothing. */
  get view(): View {
    return this.viewOf({});
  }

  /** Called by a VisitorEntry only. */
  viewOf(given: Values): View {
    const values = mergeSettings(this._options.before, given);
    const has = (field: keyof Values): boolean => values[field] !== undefined;
    return {
      state: this._state,
      stage: this._stage,
      findings: this._findings,
      ssid: values.ssid ?? "",
      url: values.url ?? "",
      has: {
        password: has("password"),
        ca: has("ca"),
        token: has("token"),
        key: has("key"),
        secret: has("secret"),
        label: has("label"),
      },
    };
  }

  /** Opens commissioning for 10 minutes. */
  open(): void {
    if (!this._transition("open")) return;
    this._isOver = false;
    this._later(this._options.openMs ?? OPEN_MS);
  }

  close(): void {
    this._transition("close");
  }

  /** Called by a VisitorEntry only. */
  take(entry: VisitorEntry, typed: Values): boolean {
    if (this._state !== "open") return false;
    const { before } = this._options;
    const all = { ...entry.given, ...typed };
    const values = mergeSettings(before, all);
    this._findings = checkValues(values, true, whyUnbound(before, values));
    // Invalid values are not stored; the others need not be typed again.
    const wrong = this._findings.map(({ field }) => field);
    entry.given = without(all, wrong);
    if (this._findings.length > 0) this._changed();
    else if (this._transition("given")) void this._check(entry, values);
    return true;
  }

  private async _check(entry: VisitorEntry, values: Values): Promise<void> {
    const isSame = sameIdentity(this._options.before, values);
    const found = await this._tried(values, isSame);
    if (this._state !== "checking") return;
    const failed: Finding = {
      field: "url",
      reason: "the settings cannot be stored: the device's storage failed",
    };
    const finding = found ?? (this._options.storeSettings(values, isSame) ? undefined : failed);
    this._findings = finding ? [finding] : [];
    this._stage = "";
    if (!finding) {
      entry.given = without(entry.given, SECRETS);
      this._transition("good");
      this._later(DONE_MS);
      return;
    }
    entry.given = without(entry.given, finding.field === "password" ? ["password"] : []);
    this._transition("bad");
    if (this._isOver) this._transition("over");
  }

  private async _tried(values: Values, isSame: boolean): Promise<Finding | undefined> {
    try {
      return await this._options.check(values, isSame, (stage) => {
        this._stage = stage;
      });
    } catch {
      return { field: "url", reason: "the check itself failed: try again" };
    }
  }

  private _later(ms: number): void {
    this._cancel();
    this._cancel = this._options.clock.timer(ms, () => {
      this._isOver = true;
      this._transition("over");
    });
  }

  /** True if something changed. */
  private _transition(trigger: Trigger): boolean {
    const next = NEXT[this._state][trigger];
    if (next === undefined) return false;
    const done = this._state === "done";
    this._state = next;
    if (next === "closed") {
      this._cancel();
      this._options.closed(done);
    }
    this._changed();
    return true;
  }

  private _changed(): void {
    for (const changed of this._onChange) changed();
  }
}

class VisitorEntry implements Entry {
  private readonly _commissioning: Commissioning;
  /** Entered and plausible, but not stored yet. */
  given: Values = {};

  constructor(commissioning: Commissioning) {
    this._commissioning = commissioning;
  }

  get view(): View {
    return this._commissioning.viewOf(this.given);
  }

  give(typed: Values): boolean {
    return this._commissioning.take(this, typed);
  }
}

const without = (values: Values, fields: readonly string[]): Values => {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !fields.includes(name)));
};
