// Trial of a new image: it is confirmed after it reached the platform, passed `selfTest` and ran
// for `trialMs`. It reached the platform once that gave back the agent's own attribute and accepted
// a point: any host may answer 200.

import type { PlatformSession } from "../../platform/index.js";
import type { Signal } from "../../platform/signal.js";
import { askApplication } from "./ask-application.js";
import type { Failure } from "./failures.js";
import { FIRMWARE, type FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import { STORE_RETRY_MS, type UpdateJournal } from "./update-journal.js";

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

export class Trial {
  private readonly _session: PlatformSession;
  private readonly _signal: Signal;
  private readonly _options: FirmwareOptions;
  private readonly _journal: UpdateJournal;
  private readonly _reporter: Reporter;
  /** In this start of the image. */
  private readonly _proven: Record<Proof, boolean> = { attributes: false, telemetry: false };
  private readonly _began: number;
  /** Time without the proofs, over all runs of the agent in this start of the image. */
  private _onlineMs = 0;
  private _offlineMs = 0;
  /** The image failed, and the previous one could not be selected yet. */
  private _verdict: Failure | undefined;
  /** Caps the limits for online and offline; a wake is short. */
  private _limitMs = OFFLINE_LIMIT_MS;

  constructor(
    session: PlatformSession,
    signal: Signal,
    options: FirmwareOptions,
    journal: UpdateJournal,
    reporter: Reporter,
  ) {
    this._session = session;
    this._signal = signal;
    this._options = options;
    this._journal = journal;
    this._reporter = reporter;
    this._began = session.host.clock.now();
  }

  /** True once, when it completes the proofs. */
  proven(by: Proof): boolean {
    const before = this._reached;
    this._proven[by] = true;
    return this._reached && !before;
  }

  private get _reached(): boolean {
    return this._proven.attributes && this._proven.telemetry;
  }

  /** Shortens both limits, because a wake has a deadline. */
  limit(ms: number): void {
    this._limitMs = ms;
  }

  /** Resolves when the image is confirmed or the session stopped. */
  async judge(): Promise<void> {
    if (this._verdict) return this._rollBack(this._verdict);
    const { state } = this._journal;
    // Without an update record, the image came another way and is tried all the same.
    if (state === "updating" || state === "confirming") {
      if (!this._journal.runsRecordedImage) return this._rollBack("misnamed");
      this._journal.change({ state: "confirming" });
    }
    // A point for the platform to accept, if the application records none.
    if (state === "idle") this._reporter.running(this._journal.record);
    else this._reporter.onTrial();
    const verdict = (await this._untilReached()) ?? (await this._testItself());
    if (!this._session.running) return;
    if (verdict) return this._rollBack(verdict);
    await this._untilTried();
    if (!this._session.running) return;
    const { slot } = this._session.host;
    if (!(await this._untilDone(() => slot.confirm()))) return this._rollBack("notKept");
    if (this._session.running) this._journal.learnImage();
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

  /** Why the image is rejected; undefined if it is not. */
  private async _untilReached(): Promise<Failure | undefined> {
    const { clock } = this._session.host;
    let last = clock.now();
    while (!this._reached && this._session.running) {
      // A refused token counts as an answer too.
      const online = this._session.answers;
      await this._signal.wait(TICK_MS);
      const passed = clock.now() - last;
      last += passed;
      if (online) this._onlineMs += passed;
      else this._offlineMs += passed;
      if (this._onlineMs >= Math.min(ONLINE_LIMIT_MS, this._limitMs)) return "notReached";
      if (this._offlineMs >= this._limitMs) return "offline";
    }
    return undefined;
  }

  /** An image that crashes some seconds after its start must not be confirmed before. */
  private async _untilTried(): Promise<void> {
    const { clock } = this._session.host;
    const until = this._began + (this._options.trialMs ?? FIRMWARE.trialMs[0]);
    while (this._session.running && clock.now() < until) await this._signal.wait(until - clock.now());
  }

  private async _testItself(): Promise<Failure | undefined> {
    const test = this._options.selfTest;
    if (!test || !this._session.running) return undefined;
    const question = () => test.call(this._options);
    const good = await askApplication(
      this._session,
      "firmware.selfTest",
      this._signal,
      question,
      Math.min(SELF_TEST_MS, this._limitMs),
    );
    return good === true ? undefined : "selfTest";
  }

  /** Rolls back to the previous image, which reports the reason. */
  private async _rollBack(failure: Failure): Promise<void> {
    const { host } = this._session;
    host.log("error", "rolling back: the new firmware failed its trial");
    if (!this._verdict) this._journal.noteFailure(failure);
    this._verdict = failure;
    // Even if the host cannot select the previous image, its boot loader may do so at the restart.
    if (!(await this._untilDone(() => host.slot.revert())))
      host.log("error", "could not select the previous firmware: restarting with the new one on trial");
    if (!this._session.running) return;
    await this._reporter.restart(this._session, this._signal);
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
