// Trial of a new image: it is confirmed after it reached the platform, passed `selfTest` and ran
// for `trialMs`. It reached the platform once that gave back the agent's own attribute and accepted
// a point: any host may answer 200.

import type { Events } from "../../events.js";
import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";
import { askApplication } from "./ask-application.js";
import { type Failure, failed } from "./failures.js";
import { STORE_RETRY_MS, type UpdateJournal } from "./journal.js";
import { FIRMWARE, type FirmwareOptions } from "./options.js";

/** Limit while the platform answers. */
const ONLINE_LIMIT_MS = 600_000;
/** Limit while the platform does not answer: the network may be down, or the new image at fault. */
const OFFLINE_LIMIT_MS = 3_600_000;
const SELF_TEST_MS = 300_000;
const TICK_MS = 5000;
/** For `slot.confirm` and `slot.revert`. */
const SLOT_TRIES = 10;

/** What only the platform can do. */
export type Proof = "attributes" | "telemetry";

/** Restarts the machine. Resolves only if the session stops instead. */
export const restart = async (session: PlatformSession, events: Events, signal: Signal): Promise<void> => {
  events.emit("restart", { reason: "firmware" });
  session.host.restart("firmware");
  while (session.running) await signal.wait();
};

export class Trial {
  private readonly _session: PlatformSession;
  private readonly _events: Events;
  private readonly _signal: Signal;
  private readonly _options: FirmwareOptions;
  private readonly _journal: UpdateJournal;
  /** In this start of the image. */
  private readonly _proven: Record<Proof, boolean> = { attributes: false, telemetry: false };
  private readonly _began: number;
  /** Time without the proofs, over all runs of the agent in this start of the image. */
  private _onlineMs = 0;
  private _offlineMs = 0;
  /** The image failed, and the previous one could not be selected yet. */
  private _failure: Failure | undefined;
  /** Caps the limits for online and offline; a wake is short. */
  limitMs = OFFLINE_LIMIT_MS;

  constructor(
    session: PlatformSession,
    events: Events,
    signal: Signal,
    options: FirmwareOptions,
    journal: UpdateJournal,
  ) {
    this._session = session;
    this._events = events;
    this._signal = signal;
    this._options = options;
    this._journal = journal;
    this._began = session.host.clock.now();
  }

  /** True once, when it completes the proofs. */
  proven(by: Proof): boolean {
    const before = this._hasReached;
    this._proven[by] = true;
    return this._hasReached && !before;
  }

  private get _hasReached(): boolean {
    return this._proven.attributes && this._proven.telemetry;
  }

  /** Resolves when the image is confirmed or the session stopped. A failed image is rolled back. */
  async run(): Promise<void> {
    const { _session: session } = this;
    const { host } = session;
    if (!this._failure) {
      const failure = await this._judge();
      if (!session.running || !failure) return;
      this._failure = failure;
      // For the previous image, which reports it.
      this._journal.noteFailure(failed(failure));
    }
    host.log("error", "rolling back: the new firmware failed its trial");
    // Even if the host cannot select the previous image, its boot loader may do so at the restart.
    if (!(await this._untilDone(() => host.slot.revert())))
      host.log("error", "could not select the previous firmware: restarting with the new one on trial");
    if (session.running) await restart(session, this._events, this._signal);
  }

  /** Why the image is rejected; undefined once it is confirmed, or if the session stopped. */
  private async _judge(): Promise<Failure | undefined> {
    const { _session: session, _journal: journal } = this;
    // Without a record of it, the image came another way and is tried all the same.
    if (journal.record.state === "updating" && !journal.isRunning) return "other version than assigned";
    journal.reportTrial();
    const failure = (await this._untilReached()) ?? (await this._testItself());
    if (failure) return failure;
    await this._untilTried();
    const isConfirmed = await this._untilDone(() => session.host.slot.confirm());
    return isConfirmed ? undefined : "confirmation failed";
  }

  /**
   * Tries each minute. False after ten failures; true once `change` succeeded, or if the session
   * stopped.
   */
  private async _untilDone(change: () => boolean): Promise<boolean> {
    for (let tries = 1; this._session.running && !succeeds(change); tries++) {
      if (tries === SLOT_TRIES) return false;
      await this._signal.wait(STORE_RETRY_MS);
    }
    return true;
  }

  private async _untilReached(): Promise<Failure | undefined> {
    const { clock } = this._session.host;
    let last = clock.now();
    while (!this._hasReached && this._session.running) {
      // A refused token counts as an answer too.
      const online = this._session.answers;
      await this._signal.wait(TICK_MS);
      const passed = clock.now() - last;
      last += passed;
      if (online) this._onlineMs += passed;
      else this._offlineMs += passed;
      if (this._onlineMs >= Math.min(ONLINE_LIMIT_MS, this.limitMs)) return "not accepted in time";
      if (this._offlineMs >= this.limitMs) return "platform not reached";
    }
    return undefined;
  }

  private async _testItself(): Promise<Failure | undefined> {
    const test = this._options.selfTest;
    if (!test || !this._session.running) return undefined;
    const good = await askApplication(
      this._session,
      "firmware.selfTest",
      this._signal,
      () => test.call(this._options),
      Math.min(SELF_TEST_MS, this.limitMs),
    );
    return good === true ? undefined : "self-test failed";
  }

  /** An image that crashes some seconds after its start must not be confirmed before. */
  private async _untilTried(): Promise<void> {
    const { clock } = this._session.host;
    const until = this._began + (this._options.trialMs ?? FIRMWARE.trialMs[0]);
    while (this._session.running && clock.now() < until) await this._signal.wait(until - clock.now());
  }
}

/** Even a host that throws against its contract must not end the trial. */
const succeeds = (change: () => boolean): boolean => {
  try {
    return change();
  } catch {
    return false;
  }
};
