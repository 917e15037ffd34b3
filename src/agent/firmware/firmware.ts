import type { Events } from "../../events.js";
import type { Job, Loop, PlatformSession, Wait } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { fromHex } from "../../wire/crypto/hex.js";
import { ALL_KEYS, type Assigned, FIRMWARE_KEYS } from "../../wire/firmware.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { Image, Rules } from "./admission.js";
import { askApplication } from "./ask-application.js";
import { Assignment } from "./assignment.js";
import { decide } from "./decide.js";
import { Download } from "./download/download.js";
import { writeHeader } from "./download/image-writer.js";
import { problemInSlot } from "./download/verify.js";
import { type Failed, failed } from "./failures.js";
import { NO_FILE, runningImage, STORE_RETRY_MS, UpdateJournal, type UpdateRecord } from "./journal.js";
import type { FirmwareOptions } from "./options.js";
import { STATES, type State } from "./states.js";
import { type Proof, restart, Trial } from "./trial.js";

export type { FirmwareOptions, FirmwareUpdate } from "./options.js";

const ALLOW_LIMIT_MS = 60_000;
const LATER_MS = 60_000;
/** Most likely another image is assigned: its keys come soon. */
const REASSIGNED_MS = 2000;
/**
 * Time limit for delivering reports before a restart. A poll that shares the uplink may block them
 * for 25 s.
 */
const FLUSH_MS = 5000;
const SHARED_FLUSH_MS = 30_000;
/** Start of the keys of software packages, which the platform assigns like firmware. */
const SOFTWARE = "sw_";

/** State of an update that a sleeping device saves. */
export interface UpdateMemory {
  /** 1 while an update continues, otherwise 0. */
  busy: number;
  /** Hash of the assignment that was read last, or -1. */
  assignmentHash: number;
  /** The state that was reported. */
  state: string;
  /** ms until a failed update is retried, or -1. */
  retryMs: number;
}

/** Runs updates, one step per state. Each step stores the next state before acting on it. */
export class Firmware implements Job {
  /** The shared attributes that `offer` needs. */
  readonly keys: readonly string[];
  private readonly _host: Host;
  private readonly _rules: Rules;
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _telemetry: Telemetry;
  private readonly _loop: Loop;
  private readonly _assignment: Assignment;
  private readonly _journal: UpdateJournal;
  private readonly _trial: Trial;
  private readonly _readIn: (ms: number) => void;
  private _softwareLogged = false;
  /** Time for asking again after the application answered `"later"`. */
  private _laterAt = 0;
  /** The platform has no such package: it counts if the next read still assigns it. */
  private _isMissing = false;
  /** A file that cannot say whether it changed was downloaded a second time. */
  private _isSecondTry = false;
  /** Some of the bytes in the slot came before the last download began. */
  private _isResumed = true;

  /** `readIn` requests a read of the shared attributes `keys`, which is then offered. */
  constructor(
    session: PlatformSession,
    events: Events,
    options: FirmwareOptions,
    telemetry: Telemetry,
    readIn: (ms: number) => void,
  ) {
    const { host } = session;
    this.keys = options.publicKey === undefined ? FIRMWARE_KEYS : ALL_KEYS;
    this._host = host;
    this._rules = { host, target: session.target, options };
    this._session = session;
    this._events = events;
    this._telemetry = telemetry;
    this._readIn = readIn;
    this._loop = session.loop("firmware", this);
    this._assignment = new Assignment(host, this.keys);
    this._journal = new UpdateJournal(session, options, events, telemetry);
    this._trial = new Trial(session, events, this._loop, options, this._journal);
    events.on("delivered", () => this.proven("telemetry"));
  }

  get title(): string {
    return this._rules.options.title;
  }

  /** Retries a failed update now, with a clean failure count. */
  retry(): void {
    this._laterAt = 0;
    if (this._journal.record.state === "failed") {
      this._journal.allowRetry();
      this._readAgain(0);
    }
    this._loop.notify();
  }

  /** A step is due, a new image is on trial, or the assignment is not known yet. */
  get busy(): boolean {
    return !this._loop.resting || !this._assignment.latest || !this._isAssigned;
  }

  /** The assignment is known and work on it is in progress. */
  get underWay(): boolean {
    return this._assignment.latest !== undefined && !this._loop.resting;
  }

  /** The journal's image was assigned, or nothing where it has none, when this was read last. */
  private get _isAssigned(): boolean {
    return this._assignment.key === this._journal.record.key;
  }

  /** A sleep of `ms` ended. Called in every wake, also in one that does not connect. */
  slept(memory: UpdateMemory, ms: number): void {
    if (memory.retryMs > 0) memory.retryMs = Math.max(0, memory.retryMs - ms);
  }

  /**
   * Restores the state that `sleep` saved. Call before the start of a wake that connects.
   * `trialMs`: time limit of a trial.
   */
  wake({ assignmentHash, state, retryMs }: UpdateMemory, trialMs: number): void {
    this._assignment.markerBefore = assignmentHash;
    this._trial.limitMs = trialMs;
    this._journal.wake(state, retryMs);
  }

  /** Saves the state for the next wake. `idle`: nothing is left to do or report. */
  sleep(memory: UpdateMemory, idle: boolean): void {
    const { record, retryMs } = this._journal;
    memory.assignmentHash = this._assignment.marker;
    memory.state = idle ? record.state : "";
    memory.retryMs = retryMs;
    memory.busy = STATES[record.state].isTransfer ? 1 : 0;
    this._journal.wake("", -1);
  }

  /** Processes a complete read of `keys`: a key that is missing in `shared` does not exist. */
  offer(shared: JsonObject): void {
    const isKnown = this._assignment.latest && this._isAssigned;
    this._assignment.learn(shared);
    if (!isKnown || !this._isAssigned) this._loop.notify();
  }

  /** The platform reported that these shared attributes changed or were deleted. A read follows. */
  changed(keys: readonly string[]): void {
    if (!this._softwareLogged && keys.some((key) => key.startsWith(SOFTWARE))) {
      this._softwareLogged = true;
      this._host.log(
        "warn",
        "a software package (sw_...) was assigned: only firmware packages are supported",
      );
    }
    if (this.keys.some((key) => keys.includes(key))) this._assignment.changed();
  }

  /** The platform gave back the agent's own attribute, or accepted a point. */
  proven(by: Proof): void {
    if (this._trial.proven(by)) this._loop.notify();
  }

  begin(): void {
    this._readAgain(0);
    this._journal.load();
    if (!this._isOnTrial) this._journal.resume();
  }

  turn(): Wait | Promise<Wait> {
    if (this._isOnTrial) return this._trial.run().then(() => this._trialEnded());
    if (this._journal.record.state === "updating") {
      // After a trial, or at a start whose store rejected the next state.
      this._journal.resume();
      return this._journal.record.state === "updating" ? STORE_RETRY_MS : 0;
    }
    return this._assignment.latest ? this._act(this._assignment.latest) : undefined;
  }

  private _trialEnded(): Wait {
    const isConfirmed = this._session.running && !this._isOnTrial;
    return isConfirmed && !this._journal.confirmed() ? STORE_RETRY_MS : 0;
  }

  private get _isOnTrial(): boolean {
    return this._host.slot.state() === "pending";
  }

  /** Nothing is done before the next read of the attributes. */
  private _readAgain(inMs: number): void {
    this._assignment.latest = undefined;
    this._readIn(inMs);
  }

  private _act(assigned: Assigned): Wait | Promise<Wait> {
    const { _assignment: assignment, _journal: journal } = this;
    const { record, retryMs } = journal;
    const running = runningImage(this._host, record);
    const decision = decide(assigned, assignment, running, record, retryMs, this._rules);
    switch (decision.act) {
      case "wait":
        return decision.ms;
      case "read":
        this._readIn(decision.ms);
        return undefined;
      case "forget":
        journal.forget();
        return 0;
      case "adopt":
        this._laterAt = 0;
        this._isMissing = this._isSecondTry = false;
        journal.adopt(assignment.key, decision.title, decision.version);
        return 0;
      case "report":
        if (!journal.enter("updated")) return STORE_RETRY_MS;
        assignment.isRepeated = false;
        return 0;
      case "fail":
        return this._fail(decision.why);
      case "proceed":
        return this._proceed(decision.image, record);
    }
  }

  private _proceed(image: Image, record: UpdateRecord): Promise<Wait> {
    switch (record.state) {
      case "downloading":
        return this._fetch(image);
      case "downloaded":
        return this._verify(image, record);
      case "verified":
        return this._activate(image);
      default:
        return this._start(image, record);
    }
  }

  private async _start(image: Image, { title, version, offset }: UpdateRecord): Promise<Wait> {
    const { clock } = this._host;
    const { options } = this._rules;
    const { allow } = options;
    const wait = Math.max(this._laterAt - clock.now(), this._journal.untilStart());
    if (wait > 0) return wait;
    const question = () => (allow ? allow.call(options, { title, version, size: image.size }) : true);
    const answer = await askApplication(
      this._session,
      "firmware.allow",
      this._loop,
      question,
      ALLOW_LIMIT_MS,
    );
    if (!this._session.running || !this._isAssigned) return 0;
    if (answer === false) return this._fail(failed("refused by allow"));
    if (answer !== true) {
      this._laterAt = clock.now() + LATER_MS;
      return LATER_MS;
    }
    return this._enter(image.size > 0 && offset === image.size ? "downloaded" : "downloading");
  }

  private async _fetch(image: Image): Promise<Wait> {
    const isWanted = () => !this._assignment.latest || this._isAssigned;
    const { _session: session, _loop: loop, _journal: journal } = this;
    const download = new Download(session, loop, this._rules.options, journal, image, isWanted);
    this._isResumed = download.isResumed;
    const why = await download.run();
    if (!why) return download.isComplete ? this._enter("downloaded", download.learned) : 0;
    if (why.failure !== "no such package" || this._isMissing) return this._fail(why);
    // Most likely another image is assigned now.
    this._isMissing = true;
    this._readAgain(REASSIGNED_MS);
    return undefined;
  }

  private async _verify(image: Image, { head, etag }: UpdateRecord): Promise<Wait> {
    const { slot } = this._host;
    const header = fromHex(head).subarray(0, image.size);
    const problem = await problemInSlot(this._host, image, header);
    if (!this._session.running) return 0;
    if (problem === "wrong checksum" && image.url !== undefined && etag === "" && !this._isSecondTry) {
      // The file may have changed between two requests, and has no ETag to tell.
      this._isSecondTry = true;
      return this._enter("downloading", NO_FILE);
    }
    // Bytes that were right when they came: another download can help.
    const isSlots = problem === "wrong checksum" && (this._isResumed || image.unverified);
    if (problem) return this._fail(failed(isSlots ? "slot changed" : problem));
    return writeHeader(slot, header, image.size)
      ? this._enter("verified")
      : this._fail(failed("slot not writable"));
  }

  private async _activate(image: Image): Promise<Wait> {
    const { slot } = this._host;
    const problem = await problemInSlot(this._host, image);
    if (!this._session.running) return 0;
    if (problem) {
      slot.erase(0);
      return this._fail(failed("slot changed"));
    }
    const timeoutMs = this._session.connections.sharesUplink ? SHARED_FLUSH_MS : FLUSH_MS;
    try {
      await this._telemetry.flush({ timeoutMs });
    } catch {
      this._host.log(
        "warn",
        "could not send the firmware reports before the restart: they are sent afterwards",
      );
    }
    // No waiting from here on: stored state, activation and restart belong together.
    if (!this._session.running || !this._assignment.latest || !this._isAssigned) return 0;
    const verified = `${image.algorithm} ${image.checksum}`;
    if (!this._journal.enter("updating", { verified })) return STORE_RETRY_MS;
    if (!slot.activate(image.size)) return this._fail(failed("not bootable"));
    await restart(this._session, this._events, this._loop);
    return 0;
  }

  private _enter(state: State, change?: Partial<UpdateRecord>): Wait {
    return this._journal.enter(state, change) ? 0 : STORE_RETRY_MS;
  }

  private _fail(why: Failed): Wait {
    this._isMissing = this._isSecondTry = false;
    this._isResumed = true;
    this._journal.fail(why);
    return 0;
  }
}
