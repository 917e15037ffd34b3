import type { Events } from "../../events.js";
import type { Job, Loop, PlatformSession, Wait } from "../../platform/index.js";
import { ALL_KEYS, FIRMWARE_KEYS } from "../../wire/firmware.js";
import type { JsonObject } from "../../wire/text/json.js";
import { AssignedUpdate } from "./assigned-update.js";
import { isSigned } from "./download/verification.js";
import type { FirmwareOptions } from "./options.js";
import { Reporter, type Reports } from "./reporter.js";
import { UpdateJournal } from "./update-journal.js";
import { Updater } from "./updater.js";

// The firmware of the device: what the application sees of updates. The work is done in the folder beside this file.

/** States that an update goes on from in the next wake. */
const TRANSFERS: readonly string[] = ["downloading", "downloaded", "verified"];

export type { FirmwareOptions, FirmwareUpdate } from "./options.js";
export type { Reports } from "./reporter.js";

/** What it leaves for the next wake of a device that sleeps. */
export interface UpdateMemory {
  /** An update goes on: 0 or 1. */
  busy: number;
  /** Which keys the last look saw. */
  look: number;
  /** The state reported. */
  state: string;
  /** ms until a failed update is tried again, or -1. */
  retry: number;
}

/**
 * Updates of the firmware. An image starts only after its length and checksum were verified twice: while it came, and read back from
 * the slot. A download goes on after a dropped connection without fetching a byte twice, and after a restart with 16 KiB at most. A
 * new image is kept only after it reached the platform and passed `selfTest`; otherwise the one before it returns: after 10 min in which the
 * platform answered, or 1 h in which it did not.
 *
 * Reported as telemetry: `current_fw_title`, `current_fw_version`, `fw_state` (DOWNLOADING, DOWNLOADED, VERIFIED, UPDATING, UPDATED,
 * FAILED), `fw_error` (empty if there is none), `fw_progress` in percent. A failed update is tried again after 1 min, 10 min and 1 h; then, or
 * at once where that can't help (a wrong checksum, another device's title), not before it is assigned again, or `retry()`. A new image that could
 * not reach the platform, or lost its power, is tried again all the same, every 6 h after the third time.
 */
export class Firmware implements Job {
  /** The shared attributes that must be read for `offer`; none without options. */
  readonly keys: readonly string[];
  private readonly _session: PlatformSession;
  private readonly _loop: Loop;
  private readonly _parts: Parts | undefined;

  constructor(
    session: PlatformSession,
    events: Events,
    options: FirmwareOptions | undefined,
    reports: Reports,
  ) {
    this._session = session;
    this._loop = session.loop("firmware", this);
    this._parts = options && makeParts(session, this._loop, options, events, reports);
    this.keys = this._parts?.keys ?? [];
  }

  /** Tries a failed update again now, also one that would wait until it is assigned again. */
  retry(): void {
    this._parts?.updater.retry();
    this._loop.notify();
  }

  /**
   * True if the holder of the firmware key signed `bytes`, which must begin with "\0mote ".
   * `signature`: DER in hexadecimal digits. False without `firmware.publicKey`. Takes a board seconds.
   */
  async isSigned(bytes: Uint8Array, signature: string): Promise<boolean> {
    return this._parts?.isSigned(bytes, signature) ?? false;
  }

  /** For the agent alone: an update is fetched, requests of which should not wait behind long polls. */
  get downloading(): boolean {
    return this._parts?.journal.state === "downloading";
  }

  /** For the agent alone: something is to be done now, or a new image is on trial. */
  get busy(): boolean {
    if (!this._parts) return false;
    const { assignment, updater } = this._parts;
    return !updater.resting || !assignment.confirmed || assignment.doubtful;
  }

  /** For the agent alone: what is to be done is known, and being done. A platform that does not say holds nobody awake. */
  get underWay(): boolean {
    const { assignment, updater } = this._parts ?? {};
    return assignment?.confirmed !== undefined && updater?.resting === false;
  }

  /** For the agent alone: before a start after a sleep that was no restart. A trial may take `trialMs`. */
  awake({ look, state, retry }: UpdateMemory, trialMs: number): void {
    if (!this._parts) return;
    const { assignment, journal, updater } = this._parts;
    assignment.before = look;
    updater.trial.limitMs = trialMs;
    Object.assign(journal, { reported: state, retryMs: retry });
  }

  /** For the agent alone: before a sleep. `idle`: nothing is left to be done or reported. */
  asleep(memory: UpdateMemory, idle: boolean): void {
    Object.assign(memory, { look: -1, state: "", retry: -1, busy: 0 });
    if (!this._parts) return;
    const { assignment, journal } = this._parts;
    memory.look = assignment.look;
    if (idle) memory.state = journal.state;
    memory.retry = journal.retryIn;
    if (TRANSFERS.includes(journal.state)) memory.busy = 1;
    Object.assign(journal, { reported: "", retryMs: -1 });
  }

  /** For the agent alone: called when the keys should be read, and offered, again. */
  set reader(reader: { readSoon(): void }) {
    if (this._parts) this._parts.assignment.reader = reader;
  }

  /** For Recovery alone: the power went, or somebody pressed reset, and that ended the run before this one. */
  interrupted(): void {
    if (this._parts) this._parts.journal.interrupted = true;
  }

  /** For Recovery alone: the run before this one crashed, and why. */
  crashed(cause: string): void {
    if (this._parts) this._parts.journal.crash = cause;
  }

  /** For the agent alone: a trusted look at all of `keys`; what is not in `shared` does not exist. */
  offer(shared: JsonObject): void {
    if (this._parts?.assignment.offer(shared)) this._loop.notify();
  }

  /** For the agent alone: the platform notified that these keys changed, or are gone; a look follows. */
  changed(keys: readonly string[]): void {
    if (this.keys.some((key) => keys.includes(key))) this._parts?.assignment.doubt();
  }

  /** For the agent alone: the platform took a request with the token. */
  platformReached(): void {
    const trial = this._parts?.updater.trial;
    if (!trial || trial.reached) return;
    trial.reached = true;
    this._loop.notify();
  }

  /** For the agent alone, as the one that follows. */
  begin(): void {
    this._parts?.updater.begin();
    // Nothing could ever replace such an image, so it is not kept.
    if (!this._parts && this._session.host.slot.state() === "pending") {
      this._session.host.log("error", "a new image without firmware options is not kept");
      if (this._session.host.slot.revert()) this._session.host.restart("firmware");
    }
  }

  turn(): Wait | Promise<Wait> {
    return this._parts?.updater.turn();
  }
}

// What does the work of an update, put together.

export { FIRMWARE } from "./options.js";

export interface Parts {
  /** The shared attributes that say what is assigned. */
  readonly keys: readonly string[];
  readonly assignment: AssignedUpdate;
  readonly journal: UpdateJournal;
  readonly updater: Updater;
  isSigned(bytes: Uint8Array, signature: string): Promise<boolean>;
}

export const makeParts = (
  session: PlatformSession,
  loop: Loop,
  options: FirmwareOptions,
  events: Events,
  reports: Reports,
): Parts | undefined => {
  const keys = options.publicKey === undefined ? FIRMWARE_KEYS : ALL_KEYS;
  const assignment = new AssignedUpdate(session.host, keys);
  const reporter = new Reporter(session.host, events, reports, options);
  const journal = new UpdateJournal(session.host, options, reporter);
  return {
    keys,
    assignment,
    journal,
    updater: new Updater(session, loop, options, assignment, journal, reporter),
    isSigned: (bytes, signature) => isSigned(session.host, options.publicKey, bytes, signature),
  };
};
