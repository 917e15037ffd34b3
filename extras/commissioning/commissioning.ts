// From nothing to what a device needs: its states, and what each step makes of them. No network, no page: those are around it.
import type { Clock } from "../../src/port.js";
import {
  type Before,
  checkValues,
  type Finding,
  merged,
  SECRETS,
  sameIdentity,
  type Values,
  whyUnbound,
} from "./values.js";

/** `closed`: takes nothing. `open`: waits for the owner. `checking`: connects with what was given. `done`: it is kept; shown for a moment. */
export type State = "closed" | "open" | "checking" | "done";
type Happening = "open" | "given" | "good" | "bad" | "over" | "close";

/** The state that follows; what is not named changes nothing. A check that is under way when the time is over goes on to its end. */
const NEXT: { readonly [S in State]: { readonly [H in Happening]?: State } } = {
  closed: { open: "open" },
  open: { given: "checking", over: "closed", close: "closed" },
  checking: { good: "done", bad: "open", close: "closed" },
  done: { over: "closed", close: "closed" },
} as const;

const OPEN_MS = 600_000;
/** For the owner to read that all is well. */
const DONE_MS = 10_000;

export interface CommissioningOptions {
  readonly clock: Clock;
  /** Whether there is a radio that needs a network. */
  readonly wifi: boolean;
  /** What is kept or built in now. */
  readonly before: Before;
  /** Why the device can't start with those, for people: shown until something is given. */
  readonly wrong?: string | undefined;
  /** Connects with `values`; resolves with what is in the way, undefined for nothing. Must not reject. `report`: what it does now, for people. */
  check(values: Values, isSame: boolean, report: (stage: string) => void): Promise<Finding | undefined>;
  /** Keeps them; false if that failed. */
  keep(values: Values, isSame: boolean): boolean;
  /** Called once, when it closes; `done`: with new values kept. */
  closed(done: boolean): void;
  /** Default 10 minutes. */
  readonly openMs?: number;
}

/** What page and console show. No secret, nor how long one is. */
export interface View {
  readonly state: State;
  readonly wifi: boolean;
  /** While checking. */
  readonly stage: string;
  readonly findings: readonly Finding[];
  /** Those that are no secret, as they were given last, or are kept. */
  readonly ssid: string;
  readonly url: string;
  /** Which of the others there are. */
  readonly has: { readonly [F in "password" | "ca" | "token" | "key" | "secret"]: boolean };
}

/** What one visitor has entered: one of a browser, or whoever is at a cable. Nobody's entry completes another's. */
export interface Entry {
  readonly view: View;
  /** Adds to what was entered before, and begins the check if nothing is missing. False while that can't be. */
  give(typed: Values): boolean;
}

export class Commissioning {
  private readonly _options: CommissioningOptions;
  private _state: State = "closed";
  private _findings: readonly Finding[] = [];
  private _stage = "";
  private _isOver = false;
  private _cancel: () => void = () => {};
  /** Called after each change of the state. */
  onChange: () => void = () => {};

  constructor(options: CommissioningOptions) {
    this._options = options;
    if (options.wrong !== undefined)
      this._findings = [{ field: "url", reason: `the configuration is wrong: ${options.wrong}` }];
  }

  get state(): State {
    return this._state;
  }

  /** For one more visitor. */
  entry(): Entry {
    return new VisitorEntry(this);
  }

  /** As somebody sees it who entered nothing. */
  get view(): View {
    return this.viewOf({});
  }

  /** For an entry alone. */
  viewOf(given: Values): View {
    const values = merged(this._options.before, given);
    const has = (field: keyof Values): boolean => values[field] !== undefined;
    return {
      state: this._state,
      wifi: this._options.wifi,
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
      },
    };
  }

  /** Opens it for 10 minutes. */
  open(): void {
    if (!this._happens("open")) return;
    this._isOver = false;
    this._later(this._options.openMs ?? OPEN_MS);
  }

  close(): void {
    this._happens("close");
  }

  /** For an entry alone. */
  take(entry: VisitorEntry, typed: Values): boolean {
    if (this._state !== "open") return false;
    const { before, wifi } = this._options;
    const all = { ...entry.given, ...typed };
    const values = merged(before, all);
    this._findings = checkValues(values, wifi, whyUnbound(before, values));
    // What can't be right is not kept in mind; the rest need not be typed again.
    const wrong = this._findings.map(({ field }) => field);
    entry.given = without(all, wrong);
    if (this._findings.length > 0) this.onChange();
    else if (this._happens("given")) void this._check(entry, values);
    return true;
  }

  private async _check(entry: VisitorEntry, values: Values): Promise<void> {
    const isSame = sameIdentity(this._options.before, values);
    const found = await this._tried(values, isSame);
    if (this._state !== "checking") return;
    const failed: Finding = {
      field: "url",
      reason: "the values can't be kept: the storage of the device failed",
    };
    const finding = found ?? (this._options.keep(values, isSame) ? undefined : failed);
    this._findings = finding ? [finding] : [];
    this._stage = "";
    if (!finding) {
      entry.given = without(entry.given, SECRETS);
      this._happens("good");
      this._later(DONE_MS);
      return;
    }
    entry.given = without(entry.given, finding.field === "password" ? ["password"] : []);
    this._happens("bad");
    if (this._isOver) this._happens("over");
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
      this._happens("over");
    });
  }

  /** True if it changed something. */
  private _happens(what: Happening): boolean {
    const next = NEXT[this._state][what];
    if (next === undefined) return false;
    const done = this._state === "done";
    this._state = next;
    if (next === "closed") {
      this._cancel();
      this._options.closed(done);
    }
    this.onChange();
    return true;
  }
}

class VisitorEntry implements Entry {
  private readonly _commissioning: Commissioning;
  /** Entered, found right as far as it shows, and not kept yet. */
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
