import { random01 } from "../../platform/pace.js";
import type { Host } from "../../port.js";
import { readOwn, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import { FAILURES, type Failure, MAX_FAILURES, RETRY_MS } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import type { RunningImage } from "./running-image.js";

// The record of an update. Every change is stored, then reported, then acted on.

export class UpdateJournal {
  private readonly _host: Host;
  private readonly _options: FirmwareOptions;
  private readonly _reporter: Reporter;
  private readonly _image: RunningImage;
  /** Undefined while no update is assigned or in progress. */
  record: UpdateRecord | undefined;
  /** Time of the next retry; undefined: none. */
  private _retryAt: number | undefined;
  /** After a sleep: the reported state, and ms until the retry (-1: as after any restart). */
  private _reported = "";
  private _retryMs = -1;

  constructor(host: Host, options: FirmwareOptions, reporter: Reporter, image: RunningImage) {
    this._host = host;
    this._options = options;
    this._reporter = reporter;
    this._image = image;
  }

  get state(): State {
    return this.record?.state ?? "idle";
  }

  /** True if the record's image is the running one. */
  get runsRecordedImage(): boolean {
    const { record } = this;
    const { title, version } = this._options;
    if (record?.title !== title || record.version !== version) return false;
    // Of two images of the same version, only the bytes tell which one runs.
    if (record.from !== version || this._host.slot.state() === "pending") return true;
    return record.verified !== "" && this._image.is(record.verified) === true;
  }

  /** ms until a failed update is retried; 0: now; -1: no retry. */
  get retryIn(): number {
    return this._retryAt === undefined ? -1 : Math.max(0, this._retryAt - this._host.clock.now());
  }

  /** The retry is due and starts now. */
  takeRetry(): void {
    this._retryAt = undefined;
  }

  /**
   * After a sleep: `state` was reported, and a failed update is retried in `retryMs` (-1: unknown).
   */
  wake(state: string, retryMs: number): void {
    this._reported = state;
    this._retryMs = retryMs;
  }

  load(): void {
    this.record = readRecord(this._host);
    this._retryAt = undefined;
  }

  /** Continues where a restart left a confirmed image. */
  resume(): void {
    const { record } = this;
    // A record of an update from another version says nothing about this one.
    if (record && record.from !== this._options.version && !this.runsRecordedImage) this.clear();
    if (!this.record && this._reported !== "idle") this._reporter.running();
    else if (!this.record) return;
    else if (STATES[this.record.state].activated) this._conclude(this.record);
    else this._continue(this.record);
  }

  /** Begins a new update. It is stored with its first state. */
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
      verified: "",
      at: 0,
    };
  }

  /** The record's image runs on trial and is about to be confirmed. */
  learnImage(): void {
    if (this.record?.verified && this.runsRecordedImage) this._image.learn(this.record.verified);
  }

  /**
   * ms until the update may start: random from 0 to `spreadMs`, chosen once and kept over restarts.
   * 0 for an update that started before.
   */
  untilStart(): number {
    const { _host: host, record } = this;
    const { spreadMs } = this._options;
    if (!spreadMs || record?.state !== "idle") return 0;
    const now = Math.floor(host.clock.wall() ?? host.clock.now());
    // A longer wait means that the clock was set back or counts from this start.
    if (record.at > 0 && record.at - now <= spreadMs) return Math.max(0, record.at - now);
    const wait = Math.floor(spreadMs * random01(host));
    this.save({ at: now + wait });
    return wait;
  }

  /** Stores and reports the state. False, with nothing changed, if it could not be stored. */
  enter(state: State, change: Partial<UpdateRecord> = {}): boolean {
    const { record } = this;
    if (!record) return false;
    const next = { ...record, ...change, state, error: "", at: this._stamp(record) };
    if (!writeStored(this._host, KEY, next)) return false;
    this.record = next;
    this._retryAt = undefined;
    this._reporter.state(next);
    return true;
  }

  /** Changes and stores the record without a report. False if it could not be stored. */
  save(change: Partial<UpdateRecord>): boolean {
    if (!this.record) return false;
    this.record = { ...this.record, ...change };
    return writeStored(this._host, KEY, this.record);
  }

  /** Emits an error event for this failure. Returns the changes to the record. */
  noteFailure(failure: Failure, detail: string): Partial<UpdateRecord> {
    const { text, condemns, keeps } = FAILURES[failure];
    this._reporter.failed(failure);
    const spares = condemns === "never" ? 1 : 0;
    const failures = (this.record?.failures ?? 0) + 1 - spares;
    return {
      state: "failed",
      failures,
      spared: (this.record?.spared ?? 0) + spares,
      condemned: condemns === "now" || failures > MAX_FAILURES,
      ...(keeps ? {} : { offset: 0, ...UNKNOWN_FILE }),
      error: detail === "" ? text : `${text} (${detail})`,
    };
  }

  /**
   * The update failed: stores it if possible, reports it, and schedules a retry if that can help.
   */
  fail(failure: Failure, detail: string): void {
    const { record } = this;
    if (!record) return;
    this.save({ ...this.noteFailure(failure, detail), at: this._stamp(record) });
    this._schedule(this.record as UpdateRecord);
    this._host.log("warn", `firmware update failed: ${FAILURES[failure].text}`);
    this._reporter.state(this.record as UpdateRecord);
  }

  /** Allows a retry with a clean failure count. */
  pardon(): void {
    this._retryAt = undefined;
    this.save({ failures: 0, spared: 0, condemned: false });
  }

  clear(): void {
    if (!this.record) return;
    this.record = undefined;
    this._retryAt = undefined;
    this._host.store.delete(KEY);
  }

  /** Reports a state that is stored later, together with the action that makes it true. */
  announce(state: State): void {
    const { record } = this;
    if (!record) return;
    this.record = { ...record, at: this._stamp(record) };
    this._reporter.state({ ...this.record, state });
  }

  /**
   * The new image was activated: either it runs now, or the device rolled back without a report.
   */
  private _conclude(record: UpdateRecord): void {
    const { redactor, lastRun } = this._host;
    const cause = lastRun?.crash || "";
    if (this.runsRecordedImage) this.enter("updated");
    else if (lastRun?.interrupted) this.fail("interrupted", "");
    else
      this.fail(
        record.state === "updating" ? "notStarted" : "notConfirmed",
        // The words of an engine or an application may quote a secret.
        redactor?.clean(cause) ?? cause,
      );
  }

  private _continue(record: UpdateRecord): void {
    const { restarted } = STATES[record.state];
    if (record.at === 0 && this._reported !== restarted)
      this.save({ state: restarted, at: this._stamp(record) });
    else this.record = { ...record, state: restarted };
    if (restarted === "failed") this._schedule(record);
    if (this._retryMs >= 0) this._retryAt = this._host.clock.now() + this._retryMs;
    if (this._reported !== restarted) this._reporter.state(this.record ?? record);
  }

  /**
   * States of an update get distinct time stamps; otherwise the platform keeps only the later one.
   */
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

// The states of an update, and its stored record.

/**
 * Each state is stored before it is acted on.
 * - `reported`: value of `fw_state`; undefined: not reported.
 * - `restarted`: state in which a restart continues.
 * - `activated`: the image that runs now decides the outcome.
 */
export const STATES = {
  idle: { reported: undefined, restarted: "idle", activated: false },
  downloading: { reported: "DOWNLOADING", restarted: "downloading", activated: false },
  downloaded: { reported: "DOWNLOADED", restarted: "downloaded", activated: false },
  // An image verified before a restart is verified again.
  verified: { reported: "VERIFIED", restarted: "downloaded", activated: false },
  updating: { reported: "UPDATING", restarted: "failed", activated: true },
  confirming: { reported: undefined, restarted: "failed", activated: true },
  updated: { reported: "UPDATED", restarted: "updated", activated: false },
  failed: { reported: "FAILED", restarted: "failed", activated: false },
} as const;
export type State = keyof typeof STATES;

/** The stored record of one update. All of it belongs to the image `key`. */
export interface UpdateRecord {
  state: State;
  /** Identifies title, version, checksum, algorithm and size. */
  readonly key: string;
  readonly title: string;
  readonly version: string;
  /** The version that ran when the update began. */
  readonly from: string;
  /** Bytes in the slot that need no download, except sector 0; all bytes once `downloaded`. */
  offset: number;
  /** Number of failures that lead to condemnation, and of those that never do. */
  failures: number;
  spared: number;
  /** Not retried until the fw_* keys disappear or change, or until `retry()`. */
  condemned: boolean;
  /** Value of `fw_error`. */
  error: string;
  /**
   * Learned from a file on an external host if the assignment lacks it: its length (0: unknown),
   * the checksum of the downloaded bytes, and its ETag.
   */
  size: number;
  checksum: string;
  etag: string;
  /** Algorithm and checksum of the image, once it was verified and activated. */
  verified: string;
  /**
   * Time stamp of the state, so that a repeated report replaces the first; 0: unknown. For `idle`:
   * the start time.
   */
  at: number;
}

/** Values of a record that knows nothing about a file. */
export const UNKNOWN_FILE = { size: 0, checksum: "", etag: "" } as const;

const KEY = "firmware";

/** The stored record; undefined if there is none that can be read. */
const readRecord = (host: Host): UpdateRecord | undefined => {
  // A new image that failed may have left a record that only it can read; then use this image's own
  // earlier record, unless on trial.
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
    verified: textOf(kept.verified),
    at: count(at),
  };
};

const textOf = (value: unknown): string => {
  return typeof value === "string" ? value : "";
};

const count = (value: unknown): number => {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 0;
};
