// Forgets what makes this device the one it is: Wi-Fi, access token, telemetry waiting, what is known of attributes, the RPC journal.
//
// A value in the store says that a reset is under way: it is stored before anything is forgotten, and forgotten last. So a reset that a
// power loss interrupts has either not begun, or is completed by the next start before that looks at anything.

import { MoteError } from "../../errors.js";
import { forgetStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import type { AgentParts, Part } from "./agent-parts.js";

const UNDER_WAY = "reset";
/** Of the host's commissioning; and what that was about to keep, or got while it checked. */
const WIFI = "wifi";
const UNKEPT = ["commission", "new-token", "new-proposed", "new-for"];
const METHOD = "mote.reset";
const ANSWER = '{"reset":true}';

export class Reset {
  private readonly _core: AgentParts;
  /** What is to be forgotten still. */
  private _left: readonly Part[] = [];
  /** That value is in the store. */
  private _begun: boolean;
  private _logged = false;
  /** Nobody acknowledged the answer to `mote.reset`, and polls from this number on were sent after it. */
  private _after: number | undefined;

  constructor(core: AgentParts) {
    const { host } = core;
    this._core = core;
    core.handlers.add(METHOD, (params) => this._confirm(params), {});
    this._begun = host.store.get(UNDER_WAY) !== undefined;
    if (!this._begun) return;
    host.log("warn", "a reset that was cut short is completed");
    this._left = this._parts();
    this.finish();
  }

  private _parts(): Part[] {
    const { host, provisioning, outbox, attributes, rpc } = this._core;
    const unkept = () => UNKEPT.every((key) => !host.store.get(key) || forgetStored(host, key));
    const wifi = () => forgetStored(host, WIFI);
    const lines = () => host.forgetLines?.() ?? true;
    return [{ forget: wifi }, { forget: unkept }, { forget: lines }, provisioning, outbox, attributes, rpc];
  }

  /** See `Agent.reset`. */
  async run(): Promise<void> {
    if (!writeStored(this._core.host, UNDER_WAY, true))
      throw new MoteError("STORE_FAILED", "it could not be begun");
    this._begun = true;
    this._left = this._parts();
    await this._core.stop();
    if (!this.finish()) throw new MoteError("STORE_FAILED", "not all could be forgotten yet");
  }

  /** Does what is left of a reset under way. False if something can't be forgotten. */
  finish(): boolean {
    if (!this._begun) return true;
    this._left = this._left.filter((part) => !part.forget());
    this._begun = this._left.length > 0 || !forgetStored(this._core.host, UNDER_WAY);
    if (this._begun && !this._logged)
      this._core.host.log(
        "error",
        "the reset is not complete: the store keeps something; tried every minute",
      );
    this._logged = this._begun;
    return !this._begun;
  }

  /**
   * An answer was posted. That of `mote.reset` may have come although nothing says so: a platform that has none hands the RPC out again to the next
   * poll, and it is posted again.
   */
  answered(method: string, text: string, acknowledged: boolean, nextPoll: number): void {
    if (method !== METHOD || text !== ANSWER) return;
    this._after = acknowledged ? undefined : nextPoll;
    if (acknowledged) this._restart();
  }

  /** The platform held poll number `poll`, and did not hand the RPC out again: it has the answer, or its caller waits no more. */
  pollHeard(poll: number): void {
    if (this._after === undefined || poll < this._after) return;
    this._after = undefined;
    this._restart();
  }

  /** Forgets, and restarts; once. If it could not be begun the agent goes on, and the log says why. */
  private _restart(): void {
    if (this._begun || !this._core.session.running) return;
    const restart = () => {
      this._core.events.emit("restart", { reason: "reset" });
      this._core.host.restart("reset");
    };
    this.run().then(restart, () => {
      if (this._begun) restart();
    });
  }

  private _confirm(params: unknown): object {
    if (!isObject(params) || params.confirm !== true)
      throw new MoteError("BAD_PARAMS", 'to be confirmed with {"confirm":true}');
    // The restart that follows would bring back the image before it.
    if (this._core.host.slot.state() === "pending")
      throw new MoteError("STOPPED", "a new image is on trial: ask again later");
    return { reset: true };
  }
}
