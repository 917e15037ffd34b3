import type { Events } from "../../events.js";
import type { Job, Loop, PlatformSession, Wait } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { ALL_KEYS, type Assigned, FIRMWARE_KEYS } from "../../wire/firmware.js";
import type { JsonObject } from "../../wire/text/json.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { admit, type Image } from "./admission.js";
import { askApplication } from "./ask-application.js";
import { AssignedUpdate } from "./assigned-update.js";
import { Download } from "./download/download.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import { Reporter } from "./reporter.js";
import { restart } from "./restart.js";
import { RunningImage } from "./running-image.js";
import { type Proof, Trial } from "./trial.js";
import { STATES, UpdateJournal } from "./update-journal.js";

export type { FirmwareOptions, FirmwareUpdate } from "./options.js";

const ALLOW_LIMIT_MS = 60_000;
const LATER_MS = 60_000;
const STORE_RETRY_MS = 60_000;
/**
 * Time limit for delivering reports before a restart. A poll that shares the uplink may block them
 * for 25 s.
 */
const FLUSH_MS = 5000;
const SHARED_FLUSH_MS = 30_000;
/** An update in one of these states continues in the next wake. */
const TRANSFERS: readonly string[] = ["downloading", "downloaded", "verified"];

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

/** Start of the keys of software packages, which the platform assigns like firmware. */
const SOFTWARE = "sw_";

/** Runs updates, one step per state. Each step stores the next state before acting on it. */
export class Firmware implements Job {
  /** The shared attributes that `offer` needs. */
  readonly keys: readonly string[];
  private readonly _host: Host;
  private readonly _session: PlatformSession;
  private readonly _loop: Loop;
  private readonly _options: FirmwareOptions;
  private readonly _assignment: AssignedUpdate;
  private readonly _image: RunningImage;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  private readonly _download: Download;
  private readonly _trial: Trial;
  /** Time for asking again after the application answered `"later"`. */
  private _softwareLogged = false;
  private _laterAt = 0;
  /** False until a trial of this image is over. */
  private _trialOver = false;

  /** `readAgain` requests a read of the shared attributes `keys`, which is then offered. */
  constructor(
    session: PlatformSession,
    events: Events,
    options: FirmwareOptions,
    telemetry: Telemetry,
    readAgain: () => void,
  ) {
    const { host } = session;
    this.keys = options.publicKey === undefined ? FIRMWARE_KEYS : ALL_KEYS;
    this._host = host;
    this._session = session;
    this._options = options;
    this._loop = session.loop("firmware", this);
    this._assignment = new AssignedUpdate(host, this.keys, readAgain);
    this._image = new RunningImage(host);
    this._reporter = new Reporter(host, events, telemetry, options, this._image);
    this._journal = new UpdateJournal(host, options, this._reporter, this._image);
    this._download = new Download(
      session,
      this._loop,
      options,
      this._assignment,
      this._journal,
      this._reporter,
    );
    this._trial = new Trial(session, this._loop, options, this._journal, this._reporter);
    events.on("delivered", () => this.proven("telemetry"));
  }

  get title(): string {
    return this._options.title;
  }

  /** Retries a failed update now, with a clean failure count. */
  retry(): void {
    this._laterAt = 0;
    if (this._journal.state === "failed") {
      this._journal.pardon();
      this._assignment.forget(0);
    }
    this._loop.notify();
  }

  /** A step is due, a new image is on trial, or the assignment is not known yet. */
  get busy(): boolean {
    const { confirmed, doubtful, seemsAbsent } = this._assignment;
    // Without an update that could be withdrawn, the next wake may confirm that none is assigned.
    if (seemsAbsent && this._journal.state === "idle") return !this._resting;
    return !this._resting || !confirmed || doubtful;
  }

  /** The assignment is known and work on it is in progress. */
  get underWay(): boolean {
    return this._assignment.confirmed !== undefined && !this._resting;
  }

  private get _resting(): boolean {
    return this._loop.resting && !this._download.underWay;
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
    this._assignment.resume(assignmentHash);
    this._trial.limit(trialMs);
    this._journal.wake(state, retryMs);
  }

  /** Saves the state for the next wake. `idle`: nothing is left to do or report. */
  sleep(memory: UpdateMemory, idle: boolean): void {
    const { state } = this._journal;
    memory.assignmentHash = this._assignment.hash;
    memory.state = idle ? state : "";
    memory.retryMs = this._journal.retryIn;
    memory.busy = TRANSFERS.includes(state) ? 1 : 0;
    this._journal.wake("", -1);
  }

  /** Processes a complete read of `keys`: a key that is missing in `shared` does not exist. */
  offer(shared: JsonObject): void {
    if (this._assignment.offer(shared)) this._loop.notify();
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
    if (this.keys.some((key) => keys.includes(key))) this._assignment.doubt();
  }

  /** The platform gave back the agent's own attribute, or accepted a point. */
  proven(by: Proof): void {
    if (this._trial.proven(by)) this._loop.notify();
  }

  begin(): void {
    this._trialOver = false;
    this._download.drop();
    this._trial.begin();
    this._assignment.forget(0);
    this._journal.load();
    if (this._host.slot.state() !== "pending") this._resume();
  }

  turn(): Wait | Promise<Wait> {
    if (!this._trialOver) return this._runTrial();
    if (this._download.underWay) return undefined;
    switch (this._journal.state) {
      case "idle":
      case "updated":
      case "failed":
        return this._decide();
      case "downloading":
        return this._withImage((image) => this._fetch(image));
      case "downloaded":
        return this._withImage((image) => this._verify(image));
      case "verified":
        return this._withImage((image) => this._activate(image));
      // Reached only at a start whose store rejected the next state.
      case "updating":
      case "confirming":
        this._journal.resume();
        return STATES[this._journal.state].activated ? STORE_RETRY_MS : 0;
    }
  }

  private async _runTrial(): Promise<Wait> {
    await this._trial.run();
    if (this._session.running) this._resume();
    return 0;
  }

  private _resume(): void {
    this._trialOver = true;
    this._journal.resume();
  }

  /** Decides whether an update is due and may start. */
  private _decide(): Wait | Promise<Wait> {
    const assigned = this._assignment.confirmed;
    if (!assigned) return undefined;
    const repeated = this._assignment.takeRepeated();
    if (assigned.kind === "absent") {
      this._journal.clear();
      return undefined;
    }
    const { key } = this._assignment;
    const { title, version } =
      assigned.kind === "assigned" ? assigned.assignment : { title: "", version: "" };
    if (title === this._options.title && version === this._options.version && !this._isOther(assigned))
      return this._runsAlready(key, title, version, repeated);
    if (this._journal.record?.key !== key) {
      this._journal.begin(key, title, version);
      this._laterAt = 0;
    } else if (this._journal.state === "failed") {
      const wait = this._retryIn();
      if (wait !== 0) return wait;
    }
    return this._start();
  }

  /**
   * The assigned image has other bytes than the running one of the same version. False if this
   * image was flashed and knows no checksum.
   */
  private _isOther(assigned: Assigned): boolean {
    if (assigned.kind !== "assigned") return false;
    const { algorithm, checksum } = assigned.assignment;
    return checksum !== undefined && this._image.is(`${algorithm} ${checksum}`) === false;
  }

  /** Reports UPDATED for a version that already runs, because the operator waits for it. */
  private _runsAlready(key: string, title: string, version: string, repeated: boolean): Wait {
    const { record, state } = this._journal;
    if (state === "updated" && record?.key === key && !repeated) return undefined;
    if (record?.key !== key) this._journal.begin(key, title, version);
    return this._journal.enter("updated") ? undefined : STORE_RETRY_MS;
  }

  /** ms until the failed update may be retried; undefined: wait for an event. */
  private _retryIn(): Wait {
    const { record, retryIn } = this._journal;
    if (record?.condemned) return undefined;
    if (retryIn !== 0) return retryIn < 0 ? 0 : retryIn;
    // Read the assignment again first: it may have changed.
    this._journal.takeRetry();
    this._assignment.forget(0);
    return undefined;
  }

  private async _start(): Promise<Wait> {
    const now = this._host.clock.now();
    if (this._laterAt > now) return this._laterAt - now;
    const image = this._admitOrFail();
    const { record } = this._journal;
    if (!image || !record) return 0;
    const wait = this._journal.untilStart();
    if (wait > 0) return wait;
    if (image.size === 0) return this._measure(image);
    const { allow } = this._options;
    const update = { title: record.title, version: record.version, size: image.size };
    const question = () => (allow ? allow.call(this._options, update) : true);
    const answer = await askApplication(
      this._session,
      "firmware.allow",
      this._loop,
      question,
      ALLOW_LIMIT_MS,
    );
    if (!this._session.running || this._assignment.key !== record.key) return 0;
    if (answer === false) return this._fail("notAllowed");
    if (answer !== true) {
      this._laterAt = this._host.clock.now() + LATER_MS;
      return LATER_MS;
    }
    const state = record.offset === image.size ? "downloaded" : "downloading";
    return this._journal.enter(state) ? 0 : STORE_RETRY_MS;
  }

  /** Continues only if the record's image is still the assigned one. */
  private _withImage(step: (image: Image) => Promise<Wait>): Wait | Promise<Wait> {
    const assigned = this._assignment.confirmed;
    if (!assigned || this._assignment.doubtful) return undefined;
    if (this._assignment.key !== this._journal.record?.key) {
      this._download.drop();
      if (assigned.kind === "absent") return this._fail("withdrawn");
      this._journal.clear();
      return 0;
    }
    if (this._journal.runsRecordedImage) return this._journal.enter("updated") ? 0 : STORE_RETRY_MS;
    const image = this._admitOrFail();
    if (!image) return 0;
    return image.size === 0 ? this._measure(image) : step(image);
  }

  /** The assignment lacks the image's length: requests it from the file's server and records it. */
  private _measure(image: Image): Promise<Wait> {
    return this._download.measure(image).then(() => 0);
  }

  private async _fetch(image: Image): Promise<Wait> {
    const progress = await this._download.advance(image);
    if (progress === "underWay") return undefined;
    if (progress === "ended" || this._journal.enter("downloaded", { offset: image.size })) return 0;
    return STORE_RETRY_MS;
  }

  private async _verify(image: Image): Promise<Wait> {
    if (!(await this._download.verify(image))) return 0;
    return this._journal.enter("verified") ? 0 : STORE_RETRY_MS;
  }

  private async _activate(image: Image): Promise<Wait> {
    const key = this._journal.record?.key;
    this._journal.announce("updating");
    try {
      await this._reporter.flush(this._session.connections.sharesUplink ? SHARED_FLUSH_MS : FLUSH_MS);
    } catch {
      this._host.log(
        "warn",
        "could not send the firmware reports before the restart: they are sent afterwards",
      );
    }
    // No waiting from here on: stored state, activation and restart belong together.
    if (!this._session.running || this._assignment.key !== key || this._assignment.doubtful) return 0;
    const verified = `${image.algorithm} ${image.checksum}`;
    if (!this._journal.save({ state: "updating", verified })) {
      this._journal.save({ state: "verified" });
      return STORE_RETRY_MS;
    }
    if (!this._host.slot.activate(image.size)) return this._fail("unfit");
    await restart(this._session, this._loop, this._reporter);
    return 0;
  }

  /** The assigned image if all rules admit it. Otherwise the update fails. */
  private _admitOrFail(): Image | undefined {
    const assigned = this._assignment.confirmed;
    if (!assigned) return undefined;
    const admission = admit(assigned, this._options, this._session, this._journal.record);
    if (admission.ok) return admission.image;
    this._fail(admission.failure, admission.detail);
    return undefined;
  }

  private _fail(failure: Failure, detail = ""): Wait {
    this._download.drop();
    this._journal.fail(failure, detail);
    return 0;
  }
}
