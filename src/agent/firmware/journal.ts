import type { Events } from "../../events.js";
import { invariant } from "../../invariant.js";
import { random01 } from "../../platform/pace.js";
import type { Host, Redactor } from "../../port.js";
import { readOwn, readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { FAILURES, type Failed, isOneOf, MAX_FAILURES, RETRY_MS } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import { mayFollow, STATES, type State } from "./states.js";

const KEY = "firmware";
/** Delay after the store refused a state. */
export const STORE_RETRY_MS = 60_000;

/** The stored record of one update. All of it belongs to the image `key`, except the last two. */
export interface UpdateRecord {
  readonly state: State;
  /** Identifies title, version, checksum, algorithm and size; "": no update. */
  readonly key: string;
  readonly title: string;
  readonly version: string;
  /** The version that ran when the update began. */
  readonly from: string;
  /** Bytes in the slot that need no download; of the first ones, `head` in hexadecimal digits. */
  readonly offset: number;
  readonly head: string;
  /**
   * Learned from a file on an external host if the assignment lacks it: its length (0: unknown),
   * the checksum of the downloaded bytes, and its ETag.
   */
  readonly size: number;
  readonly checksum: string;
  readonly etag: string;
  /** Number of failures of the image, and of those that may not be its fault. */
  readonly failures: number;
  readonly spared: number;
  /** Value of `fw_error`. */
  readonly error: string;
  /** Algorithm and checksum of the image, once it was verified and activated. */
  readonly verified: string;
  /**
   * Time stamp of the state, so that a repeated report replaces the first; 0: unknown. For `idle`:
   * the start time.
   */
  readonly at: number;
  /** The last confirmed image: as `slot.image` knows it, and its algorithm and checksum. */
  readonly image: string;
  readonly runs: string;
}

/** Nothing is known about a file, and none of it is in the slot. */
export const NO_FILE = { offset: 0, head: "", size: 0, checksum: "", etag: "" } as const;
export const NEW: UpdateRecord = {
  ...{ state: "idle", key: "", title: "", version: "", from: "" },
  ...NO_FILE,
  ...{ failures: 0, spared: 0, error: "", verified: "", at: 0, image: "", runs: "" },
};

/** Not retried until the fw_* keys disappear or change, or until `retry()`. */
export const isGivenUp = ({ failures }: UpdateRecord): boolean => failures > MAX_FAILURES;

/** The stored record; an empty one if there is none that can be read. */
const readRecord = (host: Host): UpdateRecord => {
  // A new image that failed may have left a record that only it can read; then use this image's own
  // earlier record, unless on trial.
  const stored = host.slot.state() === "pending" ? readStored(host, KEY) : readOwn(host, KEY);
  if (!isObject(stored)) return NEW;
  const record = { ...NEW } as Record<string, unknown>;
  for (const name of Object.keys(NEW)) {
    const value = stored[name];
    const isCount = typeof value !== "number" || (Number.isInteger(value) && value > 0);
    if (typeof value === typeof record[name] && isCount) record[name] = value;
  }
  const read = record as unknown as UpdateRecord;
  return Object.hasOwn(STATES, read.state) ? read : NEW;
};

/**
 * Algorithm and checksum of the running image; empty if unknown. Only an update teaches it: an
 * image that was flashed has none.
 */
export const runningImage = ({ slot }: Pick<Host, "slot">, { image, runs }: UpdateRecord): string =>
  image !== "" && image === slot.image?.() ? runs : "";

/**
 * Teaches the running image its algorithm and checksum, as an update would, if it knows none. Not
 * on trial: until it ends, the record names the image before, to which the device may return.
 */
export const teachRunningImage = (host: Host, verified: string): void => {
  if (host.slot.state() === "pending") return;
  const record = readRecord(host);
  const image = host.slot.image?.() ?? "";
  if (runningImage(host, record) === "") writeStored(host, KEY, { ...record, image, runs: verified });
};

/** The record of an update. Every change is stored, then reported, then acted on. */
export class UpdateJournal {
  private readonly _host: Host;
  private readonly _redactor: Redactor;
  private readonly _options: FirmwareOptions;
  private readonly _events: Events;
  private readonly _telemetry: Telemetry;
  record: UpdateRecord = NEW;
  /** Time of the next retry; undefined: none. */
  private _retryAt: number | undefined;
  /** This start reported the running firmware. */
  private _isReported = false;
  /** After a sleep: the reported state, and ms until the retry (-1: as after any restart). */
  private _reportedState = "";
  private _retryMs = -1;

  constructor(
    { host, redactor }: { readonly host: Host; readonly redactor: Redactor },
    options: FirmwareOptions,
    events: Events,
    telemetry: Telemetry,
  ) {
    this._host = host;
    this._redactor = redactor;
    this._options = options;
    this._events = events;
    this._telemetry = telemetry;
  }

  /**
   * The record's image runs. A title and a version are no proof: another image may have been
   * flashed since. On trial there was no time for that.
   */
  get isRunning(): boolean {
    const { title, version, from, image, runs, verified } = this.record;
    const { slot } = this._host;
    if (title !== this._options.title || version !== this._options.version) return false;
    if (slot.state() === "pending") return true;
    const running = slot.image?.();
    // Until the new image is learned, the record names the one before it.
    if (image !== "" && running !== undefined) return running !== image || runs === verified;
    return from !== version;
  }

  /** ms until a failed update is retried; 0: now; -1: no retry. */
  get retryMs(): number {
    return this._retryAt === undefined ? -1 : Math.max(0, this._retryAt - this._host.clock.now());
  }

  /**
   * After a sleep: `state` was reported, and a failed update is retried in `retryMs` (-1: unknown).
   */
  wake(state: string, retryMs: number): void {
    this._reportedState = state;
    this._retryMs = retryMs;
  }

  load(): void {
    this.record = readRecord(this._host);
    this._retryAt = undefined;
  }

  /** Continues where a restart left a confirmed image. */
  resume(): void {
    // A record of an update from another version says nothing about this one.
    if (this.record.from !== this._options.version && !this.isRunning) this.forget();
    const { key, state, at } = this.record;
    if (state === "updating") {
      this._endTrial();
      return;
    }
    if (state === "failed") {
      this._schedule();
      if (this._retryMs >= 0) this._retryAt = this._host.clock.now() + this._retryMs;
    }
    if (this._reportedState === state) return;
    if (key !== "" && state !== "idle" && at === 0) this.change({ at: this._stamp() });
    this._report();
  }

  /** The new image was activated: either it runs now, or the device rolled back. */
  private _endTrial(): void {
    const { lastRun } = this._host;
    if (this.isRunning) this.confirmed();
    else if (lastRun?.interrupted) this.fail({ failure: "power lost on trial", detail: "" });
    // The words of an engine or an application may quote a secret.
    else this.fail({ failure: "not confirmed", detail: this._redactor.clean(lastRun?.crash || "") });
  }

  /**
   * The record's image was confirmed, be it of the same bytes as the one before. False if that
   * could not be stored.
   */
  confirmed(): boolean {
    const { state, verified } = this.record;
    if (state !== "updating") return true;
    return this.enter("updated", { image: this._host.slot.image?.() ?? "", runs: verified });
  }

  /** The record is of a new update now. It is stored with its first state. */
  adopt(key: string, title: string, version: string): void {
    this._retryAt = undefined;
    const { image, runs } = this.record;
    this.record = { ...NEW, key, title, version, from: this._options.version, image, runs };
  }

  /** No update is assigned. */
  forget(): void {
    if (this.record.key === "") return;
    this.adopt("", "", "");
    if (this.record.runs === "") this._host.store.delete(KEY);
    else this.change({});
  }

  /**
   * ms until the update may start: random from 0 to `spreadMs`, chosen once and kept over restarts.
   * 0 for an update that started before.
   */
  untilStart(): number {
    const { _host: host, record } = this;
    const { spreadMs } = this._options;
    if (!spreadMs || record.state !== "idle") return 0;
    const now = Math.floor(host.clock.wall() ?? host.clock.now());
    // A longer wait means that the clock was set back or counts from this start.
    if (record.at > 0 && record.at - now <= spreadMs) return Math.max(0, record.at - now);
    const wait = Math.floor(spreadMs * random01(host));
    this.change({ at: now + wait });
    return wait;
  }

  /** Stores and reports the state. False, with nothing changed, if it could not be stored. */
  enter(state: State, change: Partial<UpdateRecord> = {}): boolean {
    const before = this.record;
    if (!this.change({ ...change, state, error: "", at: this._stamp() })) {
      this.record = before;
      return false;
    }
    this._retryAt = undefined;
    this._report();
    return true;
  }

  /** Changes and stores the record without a report. False if it could not be stored. */
  change(change: Partial<UpdateRecord>): boolean {
    const { record } = this;
    const { state = record.state } = change;
    invariant(`${state} may follow ${record.state}`, () => mayFollow(record.state, state));
    this.record = { ...record, ...change };
    return writeStored(this._host, KEY, this.record);
  }

  /**
   * The update failed: stores it if possible, reports it, and schedules a retry if that can help.
   */
  fail(why: Failed): void {
    this.noteFailure(why, this._stamp());
    this._schedule();
    this._host.log("warn", `firmware update failed: ${why.failure}`);
    this._report();
  }

  /** Stores a failure for the image that reports it. */
  noteFailure({ failure, detail }: Failed, at = 0): void {
    this._events.emit("error", { code: `fw ${failure}` });
    const { key, failures, spared } = this.record;
    // The image came another way.
    if (key === "") return;
    const { final, restarted, always } = FAILURES;
    const isFinal = isOneOf(final, failure);
    const isSpared = isOneOf(always, failure);
    this.change({
      ...(isFinal || isOneOf(restarted, failure) ? NO_FILE : {}),
      state: "failed",
      failures: isFinal ? MAX_FAILURES + 1 : isSpared ? failures : failures + 1,
      spared: isSpared ? spared + 1 : spared,
      error: detail === "" ? failure : `${failure} (${detail})`,
      at,
    });
  }

  /** Allows a retry with a clean failure count. */
  allowRetry(): void {
    this._retryAt = undefined;
    this.change({ failures: 0, spared: 0 });
  }

  private _schedule(): void {
    const { failures, spared } = this.record;
    const wait = RETRY_MS[Math.min(failures + spared, RETRY_MS.length) - 1];
    const isLast = isGivenUp(this.record) || wait === undefined;
    this._retryAt = isLast ? undefined : this._host.clock.now() + wait;
  }

  /**
   * States of an update get distinct time stamps; otherwise the platform keeps only the later one.
   */
  private _stamp(): number {
    const { state, at } = this.record;
    const wall = this._host.clock.wall();
    return wall === undefined ? 0 : Math.max(Math.floor(wall), state === "idle" ? 0 : at + 1);
  }

  /** Reports the running firmware and the state; without a state, once. */
  private _report(): void {
    const { record } = this;
    const { version, error } = record;
    const state = STATES[record.state].reported;
    if (state === undefined && this._isReported) return;
    this._isReported = true;
    // Empty if unknown, so that an earlier value does not stay on the platform.
    const checksum = runningImage(this._host, record).split(" ")[1] ?? "";
    const running = {
      ...{ current_fw_title: this._options.title, current_fw_version: this._options.version },
      current_fw_checksum: checksum,
    };
    if (state === undefined) this._record(running);
    else {
      this._record({ ...running, fw_state: state, fw_error: error }, record.at);
      this._events.emit("firmware", error === "" ? { state, version } : { state, version, error });
    }
  }

  /** Reports from a new image that it is on trial. Not its version: it may be rolled back. */
  reportTrial(): void {
    // A point for the platform to accept, if the application records none.
    if (this.record.state === "idle") this._report();
    else this._record({ fw_state: STATES.updating.reported, fw_error: "" });
  }

  reportProgress(percent: number): void {
    this._record({ fw_progress: percent });
    this._events.emit("firmware", { state: "DOWNLOADING", version: this.record.version, progress: percent });
  }

  private _record(values: Record<string, unknown>, at = 0): void {
    try {
      this._telemetry.record(values, at === 0 ? {} : { ts: at });
    } catch {
      this._host.log("error", "could not record a firmware report");
    }
  }
}
