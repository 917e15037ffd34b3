import type { Host } from "../../port.js";
import { readOwn, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import { FAILURES, type Failure, MOST_FAILURES, RETRY_MS } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";

// The one record of an update: every change of it is stored, then reported, then acted on.

export class UpdateJournal {
  private readonly _host: Host;
  private readonly _options: FirmwareOptions;
  private readonly _reporter: Reporter;
  /** Undefined while nothing was ever assigned, or all of it is over. */
  record: UpdateRecord | undefined;
  /** When a failed update is tried again; undefined: not by itself. */
  private _retryAt: number | undefined;
  /** The last run ended by a power loss. */
  private _interrupted = false;
  /** Why the last run crashed; empty if it did not, or the cause is unknown. */
  private _crash = "";
  /** After a sleep: the state that was reported, and ms until the retry (-1: as after any restart). */
  private _reported = "";
  private _retryMs = -1;

  constructor(host: Host, options: FirmwareOptions, reporter: Reporter) {
    this._host = host;
    this._options = options;
    this._reporter = reporter;
  }

  get state(): State {
    return this.record?.state ?? "idle";
  }

  /** True if the record's image is the one that runs. */
  get isNew(): boolean {
    return this.record?.title === this._options.title && this.record.version === this._options.version;
  }

  /** ms until a failed update is tried again; 0: now; -1: not by itself. */
  get retryIn(): number {
    return this._retryAt === undefined ? -1 : Math.max(0, this._retryAt - this._host.clock.now());
  }

  /** The retry is due and taken. */
  takeRetry(): void {
    this._retryAt = undefined;
  }

  interrupted(): void {
    this._interrupted = true;
  }

  crashed(cause: string): void {
    this._crash = cause;
  }

  /** After a sleep: `state` was reported, and a failed update is tried again in `retryMs` (-1: unknown). */
  wake(state: string, retryMs: number): void {
    this._reported = state;
    this._retryMs = retryMs;
  }

  load(): void {
    this.record = readRecord(this._host);
    this._retryAt = undefined;
  }

  /** Goes on where a restart left a confirmed image. */
  resume(): void {
    const { record } = this;
    // A record of an update that began under a third version says nothing about this one.
    if (record && record.from !== this._options.version && !this.isNew) this.clear();
    if (!this.record && this._reported !== "idle") this._reporter.running();
    else if (!this.record) return;
    else if (STATES[this.record.state].activated) this._judge(this.record);
    else this._goOn(this.record);
  }

  /** A new update, with nothing done yet; not stored before its first state is. */
  begin(key: string, title: string, version: string): void {
    this._retryAt = undefined;
    this.record = {
      state: "idle",
      key,
      title,
      version,
      from: this._options.version,
      offset: 0,
      failures: 0,
      spared: 0,
      condemned: false,
      error: "",
      ...UNKNOWN_FILE,
      at: 0,
    };
  }

  /** Stores the state and reports it. False if it could not be stored: then nothing changed. */
  enter(state: State, change: Partial<UpdateRecord> = {}): boolean {
    const { record } = this;
    if (!record) return false;
    const next = { ...record, ...change, state, error: "", at: this._stamp(record) };
    if (!writeRecord(this._host, next)) return false;
    this.record = next;
    this._retryAt = undefined;
    this._reporter.state(next);
    return true;
  }

  /** Changes the record without a report, and stores it. False if it could not be stored. */
  save(change: Partial<UpdateRecord>): boolean {
    if (!this.record) return false;
    this.record = { ...this.record, ...change };
    return writeRecord(this._host, this.record);
  }

  /** What the record becomes by this failure. */
  failed(failure: Failure, detail: string): Partial<UpdateRecord> {
    const { text, condemns, keeps } = FAILURES[failure];
    this._reporter.failed(failure);
    const spares = condemns === "never" ? 1 : 0;
    const failures = (this.record?.failures ?? 0) + 1 - spares;
    return {
      state: "failed",
      failures,
      spared: (this.record?.spared ?? 0) + spares,
      condemned: condemns === "now" || failures > MOST_FAILURES,
      ...(keeps ? {} : { offset: 0, ...UNKNOWN_FILE }),
      error: detail === "" ? text : `${text} (${detail})`,
    };
  }

  /** The update failed: stored if it can be, reported, and tried again later unless that is of no use. */
  fail(failure: Failure, detail: string): void {
    const { record } = this;
    if (!record) return;
    this.save({ ...this.failed(failure, detail), at: this._stamp(record) });
    this._schedule(this.record as UpdateRecord);
    this._host.log("warn", `firmware update failed: ${FAILURES[failure].text}`);
    this._reporter.state(this.record as UpdateRecord);
  }

  /** The update is to be tried again as if it had never failed. */
  pardon(): void {
    this._retryAt = undefined;
    this.save({ failures: 0, spared: 0, condemned: false });
  }

  clear(): void {
    if (!this.record) return;
    this.record = undefined;
    this._retryAt = undefined;
    deleteRecord(this._host);
  }

  /** Reports a state that is stored only later, together with what makes it true. */
  announce(state: State): void {
    const { record } = this;
    if (!record) return;
    this.record = { ...record, at: this._stamp(record) };
    this._reporter.state({ ...this.record, state });
  }

  /** The new image was activated: either it is the one that runs now, or the one before it came back without a word. */
  private _judge(record: UpdateRecord): void {
    if (this.isNew) this.enter("updated");
    else if (this._interrupted) this.fail("interrupted", "");
    else this.fail(record.state === "updating" ? "notStarted" : "notConfirmed", this._crash);
  }

  private _goOn(record: UpdateRecord): void {
    const { restarted } = STATES[record.state];
    if (record.at === 0 && this._reported !== restarted)
      this.save({ state: restarted, at: this._stamp(record) });
    else this.record = { ...record, state: restarted };
    if (restarted === "failed") this._schedule(record);
    if (this._retryMs >= 0) this._retryAt = this._host.clock.now() + this._retryMs;
    if (this._reported !== restarted) this._reporter.state(this.record ?? record);
  }

  /** No two states of one update get the same time stamp: the platform would keep only the later one. */
  private _stamp({ state, at }: UpdateRecord): number {
    const last = state === "idle" ? 0 : at;
    const wall = this._host.clock.wall();
    return wall === undefined ? 0 : Math.max(Math.floor(wall), last + 1);
  }

  private _schedule(record: UpdateRecord): void {
    const tries = record.failures + record.spared;
    const wait = record.condemned ? undefined : RETRY_MS[Math.min(tries, RETRY_MS.length) - 1];
    this._retryAt = wait === undefined ? undefined : this._host.clock.now() + wait;
  }
}

// The states of an update, and what is kept of it over a restart.

/**
 * Each state is stored before it is acted on. `reported` is the value of `fw_state` (undefined: nothing is reported). A start that finds the
 * state stored goes on with `restarted`; `activated`: which image runs then shows how it went.
 */
export const STATES = {
  idle: { reported: undefined, restarted: "idle", activated: false },
  downloading: { reported: "DOWNLOADING", restarted: "downloading", activated: false },
  downloaded: { reported: "DOWNLOADED", restarted: "downloaded", activated: false },
  // What was read back before a restart is read back once more.
  verified: { reported: "VERIFIED", restarted: "downloaded", activated: false },
  updating: { reported: "UPDATING", restarted: "failed", activated: true },
  confirming: { reported: undefined, restarted: "failed", activated: true },
  updated: { reported: "UPDATED", restarted: "updated", activated: false },
  failed: { reported: "FAILED", restarted: "failed", activated: false },
} as const;
export type State = keyof typeof STATES;

/** What is kept of one update. All of it belongs to one image, named by `key`. */
export interface UpdateRecord {
  state: State;
  /** Stands for title, version, checksum, algorithm and size. */
  readonly key: string;
  readonly title: string;
  readonly version: string;
  /** The version that ran when the update began. */
  readonly from: string;
  /** Bytes in the slot that need not be fetched again, sector 0 apart; all of them once `downloaded`. */
  offset: number;
  /** Those that condemn in the end, and those that never do. */
  failures: number;
  spared: number;
  /** Not tried again until the fw_* keys were seen absent or different, or `retry()`. */
  condemned: boolean;
  /** As in `fw_error`. */
  error: string;
  /** Learnt of a file on an external host, as far as the assignment does not say it: its length (0: not known), the checksum of what came, and its ETag. */
  size: number;
  checksum: string;
  etag: string;
  /** The time stamp of the state, so that a report sent again replaces the first one; 0: not known. Of `idle`: when it may begin. */
  at: number;
}

/** Of a record that knows nothing of a file. */
export const UNKNOWN_FILE = { size: 0, checksum: "", etag: "" } as const;

const KEY = "firmware";

/** The record, or undefined if there is none that can be read. */
export const readRecord = (host: Host): UpdateRecord | undefined => {
  // A new image that gave up may have left a record that only it can read: what this image wrote before says enough. On trial such is of no use.
  const kept = host.slot.state() === "pending" ? readStored(host, KEY) : readOwn(host, KEY);
  if (!isObject(kept)) return undefined;
  const { state, key, title, version, from, offset, failures, spared, condemned, error, at } = kept;
  if (typeof state !== "string" || !Object.hasOwn(STATES, state)) return undefined;
  if (typeof key !== "string" || typeof title !== "string" || typeof version !== "string") return undefined;
  return {
    state: state as State,
    key,
    title,
    version,
    from: textOf(from),
    offset: count(offset),
    failures: count(failures),
    spared: count(spared),
    condemned: condemned === true,
    error: textOf(error),
    size: count(kept.size),
    checksum: textOf(kept.checksum),
    etag: textOf(kept.etag),
    at: count(at),
  };
};

export const writeRecord = (host: Host, record: UpdateRecord): boolean => {
  return writeStored(host, KEY, record);
};

export const deleteRecord = (host: Host): void => {
  host.store.delete(KEY);
};

const textOf = (value: unknown): string => {
  return typeof value === "string" ? value : "";
};

const count = (value: unknown): number => {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
};
