// The loop of an update: one step per state, each of which leads to the next state in the journal.

import type { Job, Loop, PlatformSession, Wait } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { type Image, pass, spreadWait } from "./admission.js";
import { askApplication, restart } from "./application.js";
import type { AssignedUpdate } from "./assigned-update.js";
import { Transfer } from "./download/download.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import { Trial } from "./trial.js";
import type { UpdateJournal } from "./update-journal.js";
import { STATES } from "./update-journal.js";

const ALLOW_LIMIT_MS = 60_000;
const LATER_MS = 60_000;
const STORE_RETRY_MS = 60_000;
/** What is not delivered before the restart is lost, if it is not durable. By connections: a poll may hold the only one for 25 s. */
const FLUSH_MS = { 1: 30_000, 2: 5000, 3: 5000 } as const;

export class Updater implements Job {
  private readonly _host: Host;
  private readonly _session: PlatformSession;
  private readonly _loop: Loop;
  private readonly _options: FirmwareOptions;
  private readonly _assignment: AssignedUpdate;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  private readonly _transfer: Transfer;
  private _laterAt = 0;
  readonly trial: Trial;
  private _resumed = false;

  constructor(
    session: PlatformSession,
    loop: Loop,
    options: FirmwareOptions,
    assignment: AssignedUpdate,
    journal: UpdateJournal,
    reporter: Reporter,
  ) {
    this._host = session.host;
    this._session = session;
    this._loop = loop;
    this._options = options;
    this._assignment = assignment;
    this._journal = journal;
    this._reporter = reporter;
    this._transfer = new Transfer(session, loop, options, assignment, journal, reporter);
    this.trial = new Trial(session, loop, options, journal, reporter);
  }

  begin(): void {
    this._resumed = false;
    this._transfer.drop();
    this.trial.reached = false;
    this._assignment.forget(0);
    this._journal.load();
    if (this._host.slot.state() !== "pending") this._resume();
  }

  /** Tries a failed update again now, as if it had never failed. */
  retry(): void {
    this._laterAt = 0;
    if (this._journal.state !== "failed") return;
    this._journal.pardon();
    this._assignment.forget(0);
  }

  /** Nothing is to be done before something happens, or a good while is over. */
  get resting(): boolean {
    return this._loop.resting && !this._transfer.underWay;
  }

  turn(): Wait | Promise<Wait> {
    if (!this._resumed) return this._try();
    if (this._transfer.underWay) return undefined;
    switch (this._journal.state) {
      case "idle":
      case "updated":
      case "failed":
        return this._decide();
      case "downloading":
        return this._agrees((image) => this._download(image));
      case "downloaded":
        return this._agrees((image) => this._verify(image));
      case "verified":
        return this._agrees((image) => this._activate(image));
      // Only ever found at a start, and left then if the store takes it.
      case "updating":
      case "confirming":
        this._journal.resume();
        return STATES[this._journal.state].activated ? STORE_RETRY_MS : 0;
    }
  }

  /** A new image is on trial. */
  private async _try(): Promise<Wait> {
    await this.trial.run();
    if (this._session.running) this._resume();
    return 0;
  }

  private _resume(): void {
    this._resumed = true;
    this._journal.resume();
  }

  /** Whether there is something to do, and whether it may be done. */
  private _decide(): Wait | Promise<Wait> {
    const assigned = this._assignment.confirmed;
    if (!assigned) return undefined;
    const { key } = this._assignment;
    const { title, version } =
      assigned.kind === "assigned" ? assigned.assignment : { title: "", version: "" };
    const again = this._assignment.again;
    this._assignment.again = false;
    if (assigned.kind === "absent") this._journal.clear();
    if (assigned.kind === "absent") return undefined;
    if (this._runs(title, version)) return this._runsAlready(key, title, version, again);
    if (this._journal.record?.key !== key) {
      this._journal.begin(key, title, version);
      this._laterAt = 0;
    } else if (this._journal.state === "failed") {
      const wait = this._retryIn();
      if (wait !== 0) return wait;
    }
    return this._start();
  }

  /** ms until the failed update may be tried again; undefined: not by itself, or not before the keys were read again. */
  private _retryIn(): Wait {
    const { record, retryAt } = this._journal;
    if (record?.condemned) return undefined;
    if (retryAt === undefined) return 0;
    const wait = retryAt - this._host.clock.now();
    if (wait > 0) return wait;
    this._journal.retryAt = undefined;
    this._assignment.forget(0);
    return undefined;
  }

  private async _start(): Promise<Wait> {
    const now = this._host.clock.now();
    if (this._laterAt > now) return this._laterAt - now;
    const image = this._pass();
    const record = this._journal.record;
    if (!image || !record) return 0;
    const wait = spreadWait(this._host, this._options.spreadMs, this._journal);
    if (wait > 0) return wait;
    if (image.size === 0) return this._measure(image);
    const { allow } = this._options;
    const update = { title: record.title, version: record.version, size: image.size };
    const question = () => (allow ? allow.call(this._options, update) : true);
    const answer = await askApplication(this._session, this._loop, question, ALLOW_LIMIT_MS);
    if (!this._session.running || this._assignment.key !== record.key) return 0;
    if (answer === false) return this._fail("notAllowed");
    if (answer !== true) {
      this._laterAt = this._host.clock.now() + LATER_MS;
      return LATER_MS;
    }
    const state = record.offset === image.size ? "downloaded" : "downloading";
    return this._journal.enter(state) ? 0 : STORE_RETRY_MS;
  }

  /** Goes on with the image in hand only if it is still the one that is assigned. */
  private _agrees(step: (image: Image) => Promise<Wait>): Wait | Promise<Wait> {
    const assigned = this._assignment.confirmed;
    if (!assigned || this._assignment.doubtful) return undefined;
    if (this._assignment.key !== this._journal.record?.key) {
      this._transfer.drop();
      if (assigned.kind === "absent") return this._fail("withdrawn");
      this._journal.clear();
      return 0;
    }
    if (this._journal.isNew) return this._journal.enter("updated") ? 0 : STORE_RETRY_MS;
    const image = this._pass();
    if (!image) return 0;
    return image.size === 0 ? this._measure(image) : step(image);
  }

  /** Nobody said how long the image is. What comes of it is in the record. */
  private _measure(image: Image): Promise<Wait> {
    return this._transfer.measure(image).then(() => 0);
  }

  private async _download(image: Image): Promise<Wait> {
    const whole = await this._transfer.fetch(image);
    if (whole === undefined) return undefined;
    return !whole || this._journal.enter("downloaded", { offset: image.size }) ? 0 : STORE_RETRY_MS;
  }

  private async _verify(image: Image): Promise<Wait> {
    if (!(await this._transfer.verify(image))) return 0;
    return this._journal.enter("verified") ? 0 : STORE_RETRY_MS;
  }

  private async _activate(image: Image): Promise<Wait> {
    const key = this._journal.record?.key;
    this._journal.announce("updating");
    try {
      await this._reporter.flush(FLUSH_MS[this._session.mode]);
    } catch {
      this._host.log("warn", "the reports could not be sent before the restart");
    }
    // From here on nothing waits: what is stored, what is activated and the restart belong together.
    if (!this._session.running || this._assignment.key !== key || this._assignment.doubtful) return 0;
    if (!this._journal.keep({ state: "updating" })) {
      this._journal.keep({ state: "verified" });
      return STORE_RETRY_MS;
    }
    if (!this._host.slot.activate(image.size)) return this._fail("unfit");
    await restart(this._session, this._loop, this._reporter);
    return 0;
  }

  private _pass(): Image | undefined {
    const assigned = this._assignment.confirmed;
    if (!assigned) return undefined;
    const passed = pass(assigned, this._options, this._session, this._journal.record);
    if (passed.ok) return passed.image;
    this._fail(passed.failure, passed.detail);
    return undefined;
  }

  /** Nothing is to be done, and whoever assigned it waits to hear so. */
  private _runsAlready(key: string, title: string, version: string, again: boolean): Wait {
    const { record, state } = this._journal;
    if (state === "updated" && record?.key === key && !again) return undefined;
    if (record?.key !== key) this._journal.begin(key, title, version);
    return this._journal.enter("updated") ? undefined : STORE_RETRY_MS;
  }

  private _fail(failure: Failure, detail = ""): Wait {
    this._transfer.drop();
    this._journal.fail(failure, detail);
    return 0;
  }

  private _runs(title: string, version: string): boolean {
    return title === this._options.title && version === this._options.version;
  }
}
