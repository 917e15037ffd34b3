import { invariant } from "../../invariant.js";
import { random01 } from "../../platform/pace.js";
import type { Host, Redactor } from "../../port.js";
import { writeStored } from "../../store.js";
import { FAILURES, type Failure, MAX_FAILURES, RETRY_MS } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import { mayFollow, STATES, type State } from "./states.js";
import { KEY, NEW, NO_FILE, readRecord, runningImage, type UpdateRecord } from "./update-record.js";

/** Delay after the store refused a state. */
export const STORE_RETRY_MS = 60_000;

/** The record of an update. Every change is stored, then reported, then acted on. */
export class UpdateJournal {
  private readonly _host: Host;
  private readonly _redactor: Redactor;
  private readonly _options: FirmwareOptions;
  private readonly _reporter: Reporter;
  record: UpdateRecord = NEW;
  /** Time of the next retry; undefined: none. */
  private _retryAt: number | undefined;
  /** After a sleep: the reported state, and ms until the retry (-1: as after any restart). */
  private _reported = "";
  private _retryMs = -1;

  constructor(
    { host, redactor }: { readonly host: Host; readonly redactor: Redactor },
    options: FirmwareOptions,
    reporter: Reporter,
  ) {
    this._host = host;
    this._redactor = redactor;
    this._options = options;
    this._reporter = reporter;
  }

  get state(): State {
    return this.record.state;
  }

  /** True if the record's image is the running one. */
  get runsRecordedImage(): boolean {
    const { record } = this;
    const { title, version } = this._options;
    if (record.title !== title || record.version !== version) return false;
    if (this._host.slot.state() === "pending") return true;
    // A title and a version are no proof: the image may have been flashed since.
    const running = runningImage(this._host, record);
    if (running !== "") return running === record.verified;
    // Until the new one is learned, the journal knows the image before it.
    return record.from !== version || (record.image !== "" && this._host.slot.image?.() !== undefined);
  }

  /** ms until a failed update is retried; 0: now; -1: no retry. */
  get retryMs(): number {
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
    if (record.from !== this._options.version && !this.runsRecordedImage) this.noUpdate();
    if (this.record.key !== "") this._resume(this.record, STATES[this.record.state].restart);
    else if (this._reported !== "idle") this._reporter.running(this.record);
  }

  /** The record is of a new update now. It is stored with its first state. */
  adopt(key: string, title: string, version: string): void {
    this._retryAt = undefined;
    const { image, runs } = this.record;
    this.record = { ...NEW, key, title, version, from: this._options.version, image, runs };
  }

  /**
   * The running image was confirmed. Before, the device may still return to the previous one, which
   * must then know itself.
   */
  learnImage(): void {
    if (this.runsRecordedImage) this.change(this._learned);
  }

  private get _learned(): Partial<UpdateRecord> {
    const { verified } = this.record;
    return verified === "" ? {} : { image: this._host.slot.image?.() ?? "", runs: verified };
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

  /**
   * Stores and reports the state, unless it was announced. False, with nothing changed, if it could
   * not be stored.
   */
  enter(state: State, change: Partial<UpdateRecord> = {}, announced = false): boolean {
    const { record } = this;
    const at = announced ? record.at : this._stamp(record);
    const next = { ...record, ...change, state, error: "", at };
    if (!this.change(next)) {
      this.record = record;
      return false;
    }
    this._retryAt = undefined;
    if (!announced) this._reporter.report(next);
    return true;
  }

  /** Reports a state that is stored later, together with the action that makes it true. */
  announce(state: State): void {
    this.record = { ...this.record, at: this._stamp(this.record) };
    this._reporter.report({ ...this.record, state });
  }

  /** Changes and stores the record without a report. False if it could not be stored. */
  change(change: Partial<UpdateRecord>): boolean {
    const { record } = this;
    const { state = record.state } = change;
    invariant(`${state} may follow ${record.state}`, () => mayFollow(record.state, state));
    this.record = { ...record, ...change };
    return writeStored(this._host, KEY, this.record);
  }

  /** Stores a failure for the image that reports it. */
  noteFailure(failure: Failure, detail = "", at = 0): void {
    const { text, after } = FAILURES[failure];
    this._reporter.failed(failure);
    const { key, failures, spared } = this.record;
    // The image came another way.
    if (key === "") return;
    const isSpared = after === "spare";
    this.change({
      ...(after === "condemn" || after === "restart" ? NO_FILE : {}),
      state: "failed",
      failures: isSpared ? failures : failures + 1,
      spared: isSpared ? spared + 1 : spared,
      condemned: after === "condemn" || (!isSpared && failures >= MAX_FAILURES),
      error: detail === "" ? text : `${text} (${detail})`,
      at,
    });
  }

  /**
   * The update failed: stores it if possible, reports it, and schedules a retry if that can help.
   */
  fail(failure: Failure, detail = ""): void {
    this.noteFailure(failure, detail, this._stamp(this.record));
    this._schedule(this.record);
    this._host.log("warn", `firmware update failed: ${FAILURES[failure].text}`);
    this._reporter.report(this.record);
  }

  /** Allows a retry with a clean failure count. */
  allowRetry(): void {
    this._retryAt = undefined;
    this.change({ failures: 0, spared: 0, condemned: false });
  }

  noUpdate(): void {
    if (this.record.key === "") return;
    this.adopt("", "", "");
    if (this.record.runs === "") this._host.store.delete(KEY);
    else this.change({});
  }

  private _resume(record: UpdateRecord, state: State | undefined): void {
    const { lastRun } = this._host;
    if (state === undefined) {
      // The new image was activated: either it runs now, or the device rolled back.
      const cause = lastRun?.crash || "";
      if (this.runsRecordedImage) this.enter("updated", this._learned);
      else if (lastRun?.interrupted) this.fail("interrupted");
      // The words of an engine or an application may quote a secret.
      else
        this.fail(record.state === "updating" ? "notStarted" : "notConfirmed", this._redactor.clean(cause));
      return;
    }
    const isNew = this._reported !== state;
    this.record = { ...record, state };
    if (isNew && record.at === 0) this.change({ at: this._stamp(record) });
    if (state === "failed") this._schedule(record);
    if (this._retryMs >= 0) this._retryAt = this._host.clock.now() + this._retryMs;
    if (isNew) this._reporter.report(this.record);
  }

  /**
   * States of an update get distinct time stamps; otherwise the platform keeps only the later one.
   */
  private _stamp({ state, at }: UpdateRecord): number {
    const last = state === "idle" ? 0 : at;
    const wall = this._host.clock.wall();
    return wall === undefined ? 0 : Math.max(Math.floor(wall), last + 1);
  }

  private _schedule({ condemned, failures, spared }: UpdateRecord): void {
    const wait = condemned ? undefined : RETRY_MS[Math.min(failures + spared, RETRY_MS.length) - 1];
    this._retryAt = wait === undefined ? undefined : this._host.clock.now() + wait;
  }
}

/** Teaches the running image its algorithm and checksum, as an update would, if it knows none. */
export const teachRunningImage = (host: Host, verified: string): void => {
  const record = readRecord(host);
  const image = host.slot.image?.() ?? "";
  if (runningImage(host, record) === "") writeStored(host, KEY, { ...record, image, runs: verified });
};
