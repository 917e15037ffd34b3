// From nothing to what a device needs: its states, and what each step makes of them. No network, no page: those are around it.
import type { Clock } from "../../src/port.js";
import { checkValues, type Finding, merged, SECRETS, sameIdentity, type Values } from "./values.js";

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
  /** Whether there is a radio to be told its network. */
  readonly wifi: boolean;
  /** What is kept or built in now. */
  readonly before: Values;
  /** Connects with `values`; resolves with what is in the way, undefined for nothing. Must not reject. `tell`: what it does now, for people. */
  check(values: Values, isSame: boolean, tell: (stage: string) => void): Promise<Finding | undefined>;
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

export class Commissioning {
  readonly #options: CommissioningOptions;
  #state: State = "closed";
  /** Given, and not kept yet. */
  #given: Values = {};
  #findings: readonly Finding[] = [];
  #stage = "";
  #isOver = false;
  #cancel: () => void = () => {};
  /** Called after each change of the state. */
  onChange: () => void = () => {};

  constructor(options: CommissioningOptions) {
    this.#options = options;
  }

  get state(): State {
    return this.#state;
  }

  get view(): View {
    const values = merged(this.#options.before, this.#given);
    const has = (field: keyof Values): boolean => values[field] !== undefined;
    return {
      state: this.#state,
      wifi: this.#options.wifi,
      stage: this.#stage,
      findings: this.#findings,
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
    if (!this.#happens("open")) return;
    this.#isOver = false;
    this.#later(this.#options.openMs ?? OPEN_MS);
  }

  close(): void {
    this.#happens("close");
  }

  /** Takes what the owner gave, beside what was given before, and begins to check it if nothing is missing. False while that can't be. */
  give(typed: Values): boolean {
    if (this.#state !== "open") return false;
    const { before, wifi } = this.#options;
    const all = { ...this.#given, ...typed };
    const values = merged(before, all);
    this.#findings = checkValues(values, wifi);
    // What can't be right is not kept in mind; the rest need not be typed again.
    const wrong = this.#findings.map(({ field }) => field);
    this.#given = without(all, wrong);
    if (this.#findings.length > 0) this.onChange();
    else if (this.#happens("given")) void this.#check(values);
    return true;
  }

  async #check(values: Values): Promise<void> {
    const isSame = sameIdentity(this.#options.before, values);
    const found = await this.#tried(values, isSame);
    if (this.#state !== "checking") return;
    const failed: Finding = {
      field: "url",
      reason: "the values can't be kept: the storage of the device failed",
    };
    const finding = found ?? (this.#options.keep(values, isSame) ? undefined : failed);
    this.#findings = finding ? [finding] : [];
    this.#stage = "";
    if (!finding) {
      this.#given = without(this.#given, SECRETS);
      this.#happens("good");
      this.#later(DONE_MS);
      return;
    }
    this.#given = without(this.#given, finding.field === "password" ? ["password"] : []);
    this.#happens("bad");
    if (this.#isOver) this.#happens("over");
  }

  async #tried(values: Values, isSame: boolean): Promise<Finding | undefined> {
    try {
      return await this.#options.check(values, isSame, (stage) => {
        this.#stage = stage;
      });
    } catch {
      return { field: "url", reason: "the check itself failed: try again" };
    }
  }

  #later(ms: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.timer(ms, () => {
      this.#isOver = true;
      this.#happens("over");
    });
  }

  /** True if it changed something. */
  #happens(what: Happening): boolean {
    const next = NEXT[this.#state][what];
    if (next === undefined) return false;
    const done = this.#state === "done";
    this.#state = next;
    if (next === "closed") {
      this.#cancel();
      this.#given = {};
      this.#options.closed(done);
    }
    this.onChange();
    return true;
  }
}

function without(values: Values, fields: readonly string[]): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !fields.includes(name)));
}
