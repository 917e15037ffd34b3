// Deletes the data that belongs to the device's owner: Wi-Fi settings, access token, waiting
// telemetry, known attributes and the RPC journal.
//
// The store says that a reset is in progress, from before anything is deleted until all is. So
// after a power loss the reset has either not begun, or the next start completes it first.

import { MoteError } from "../../errors.js";
import { forgetStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import type { AgentCore, Part } from "./agent-core.js";

const IN_PROGRESS = "reset";
const INCOMPLETE = "the reset is incomplete: the store still holds data, retrying every minute";
/** Keys of commissioning: its settings, and unconfirmed values from an interrupted run. */
const WIFI = "wifi";
const UNCONFIRMED = ["commission", "new-token", "new-proposed", "new-for"];
export const RESET_METHOD = "mote.reset";
const ANSWER = '{"reset":true}';

export class Reset {
  private readonly _core: AgentCore;
  /** Parts still to be deleted; undefined until the first `finish`. */
  private _remaining: readonly Part[] | undefined;
  /** As the store says. */
  private _isUnderWay: boolean;
  private _logged = false;
  /** The answer to `mote.reset` is unacknowledged; polls from this number on were sent after it. */
  private _restartAfterPoll: number | undefined;

  constructor(core: AgentCore) {
    const { host } = core;
    this._core = core;
    this._isUnderWay = host.store.get(IN_PROGRESS) !== undefined;
    if (this._isUnderWay) host.log("warn", "completing an interrupted reset");
  }

  private _parts(): Part[] {
    const { host, provisioning, outbox, attributes, rpc } = this._core;
    const unconfirmed = () => UNCONFIRMED.every((key) => !host.store.get(key) || forgetStored(host, key));
    const wifi = () => forgetStored(host, WIFI);
    const lines = () => host.forgetLines?.() ?? true;
    return [
      { forget: wifi },
      { forget: unconfirmed },
      { forget: lines },
      provisioning,
      outbox,
      attributes,
      rpc,
    ];
  }

  /** See `Agent.reset`. */
  async resetAll(): Promise<void> {
    if (!writeStored(this._core.host, IN_PROGRESS, true))
      throw new MoteError("STORE_FAILED", "the reset could not start: the store cannot be written");
    this._isUnderWay = true;
    this._remaining = this._parts();
    await this._core.stop();
    if (!this.finish()) throw new MoteError("STORE_FAILED", INCOMPLETE);
  }

  /** Continues a reset in progress. False if something could not be deleted. */
  finish(): boolean {
    if (!this._isUnderWay) return true;
    this._remaining ??= this._parts();
    this._remaining = this._remaining.filter((part) => !part.forget());
    this._isUnderWay = this._remaining.length > 0 || !forgetStored(this._core.host, IN_PROGRESS);
    if (this._isUnderWay && !this._logged) this._core.host.log("error", INCOMPLETE);
    this._logged = this._isUnderWay;
    return !this._isUnderWay;
  }

  /**
   * An answer was posted. An unacknowledged answer to `mote.reset` may have arrived. If it did not,
   * the platform delivers the RPC again on the next poll and it is answered again.
   */
  answered(method: string, text: string, acknowledged: boolean, nextPoll: number): void {
    if (method !== RESET_METHOD || text !== ANSWER) return;
    this._restartAfterPoll = acknowledged ? undefined : nextPoll;
    if (acknowledged) this._restart();
  }

  /**
   * The platform held poll number `poll` and did not deliver the RPC again: it has the answer, or
   * the caller no longer waits.
   */
  pollHeard(poll: number): void {
    if (this._restartAfterPoll === undefined || poll < this._restartAfterPoll) return;
    this._restartAfterPoll = undefined;
    this._restart();
  }

  /**
   * Resets and restarts once. If the reset could not start, the agent continues and the log says
   * why.
   */
  private _restart(): void {
    if (this._isUnderWay || !this._core.session.running) return;
    const restart = () => {
      this._core.events.emit("restart", { reason: "reset" });
      this._core.host.restart("reset");
    };
    this.resetAll().then(restart, () => {
      if (this._isUnderWay) restart();
    });
  }

  /** Handles `mote.reset`. */
  confirm(params: unknown): object {
    if (!isObject(params) || params.confirm !== true)
      throw new MoteError("BAD_PARAMS", 'confirmation required: params must be {"confirm":true}');
    // The restart after a reset would roll back the new image.
    if (this._core.host.slot.state() === "pending")
      throw new MoteError("STOPPED", "a new image is on trial: try again later");
    return { reset: true };
  }
}
