// Builds the agent: one object per job, whose loops start and end together.

import { MoteError } from "../errors.js";
import { type AgentState, Events } from "../events.js";
import { PlatformSession, PollTiming, type SessionWatcher } from "../platform/index.js";
import type { Host } from "../port.js";
import type { Timestamp } from "../wire/timestamp.js";
import { Attributes } from "./attributes/attributes.js";
import { rejectUnmanagedImage } from "./firmware/api.js";
import { Firmware } from "./firmware/firmware.js";
import { RESET_METHOD, Reset, SleepCycle } from "./lifecycle/index.js";
import type { CycleSettings } from "./lifecycle/options.js";
import { type AgentOptions, checkOptions } from "./options.js";
import { Provisioning } from "./provisioning/provisioning.js";
import { Outbox } from "./queue/outbox.js";
import { RpcLoop } from "./rpc/rpc.js";
import { Telemetry } from "./telemetry/telemetry.js";
import { Time } from "./time/time.js";

/** A host, with the agent that started on it last. */
interface UsedHost extends Host {
  startedBy?: Core;
}

export class Core implements SessionWatcher {
  readonly host: Host;
  readonly events: Events;
  readonly session: PlatformSession;
  readonly time: Time;
  readonly outbox: Outbox;
  readonly telemetry: Telemetry;
  readonly attributes: Attributes;
  readonly rpc: RpcLoop;
  /** Undefined without firmware options. */
  readonly firmware: Firmware | undefined;
  readonly provisioning: Provisioning;
  readonly reset: Reset;
  private readonly _settings: CycleSettings;
  private _cycle: SleepCycle | undefined;
  private _stopped = false;
  /** True after `start()` until `stop()`. */
  wanted = false;
  private _ending: Promise<number> | undefined;
  /** True from the first `start()` or wake until the application stopped the agent. */
  private _usesHost = false;
  /** The last agent that used the host and had stopped before this one read the queue. */
  private readonly _before: Core | undefined;

  /**
   * The session and `Reset` keep `this`. Their constructors use only the host, which is set before.
   */
  constructor(host: Host, options: AgentOptions) {
    const checked = checkOptions(options);
    const { target } = checked;
    this.host = host;
    const { startedBy } = host as UsedHost;
    this._before = startedBy?._usesHost ? undefined : startedBy;
    this._settings = checked.cycle;
    this.events = new Events(host);
    this.session = new PlatformSession(host, target, checked.connections, this.events, this);
    this.time = new Time(host);
    this.outbox = new Outbox(host, this.time, options.telemetry ?? {});
    this.telemetry = new Telemetry(this.session, this.events, this.time, this.outbox);
    const timing = new PollTiming();
    this.attributes = new Attributes(this.session, this.events, timing, checked.attributes);
    this.reset = new Reset(this);
    this.rpc = new RpcLoop(this.session, this.events, this.time, timing, checked.rpc, this.reset, [
      this.attributes,
      this.telemetry,
    ]);
    this.rpc.handle(RESET_METHOD, (params) => this.reset.confirm(params));
    this.firmware =
      options.firmware &&
      new Firmware(this.session, this.events, options.firmware, this.telemetry, (ms) =>
        this.attributes.readSoon(ms),
      );
    if (this.firmware) this.attributes.follow(this.firmware);
    this.provisioning = new Provisioning(
      this.session,
      this.events,
      this.reset,
      this.attributes,
      options.token,
      options.provisioning,
      options.firmware?.version,
    );
    // An interrupted reset must be completed before anything is recorded.
    this.reset.finish();
  }

  get state(): AgentState {
    if (!this.session.running) return "stopped";
    if (this.provisioning.isRefused) return "refused";
    if (this.session.online === false) return "offline";
    if (!this.provisioning.hasToken) return "provisioning";
    return this.session.online ? "online" : "connecting";
  }

  /** True during a wake. */
  get cycling(): boolean {
    return this._cycle?.running === true;
  }

  /** The wakes of a sleeping device; created on first use. */
  get cycle(): SleepCycle {
    this._cycle ??= new SleepCycle(this, this._settings);
    return this._cycle;
  }

  /**
   * Two agents on one host would overwrite each other's points. Throws `BUSY` if another agent uses
   * the host, or has used it since this one read the queue.
   */
  claimHost(): void {
    const host: UsedHost = this.host;
    const last = host.startedBy;
    if (last !== this && (last !== this._before || last?._usesHost))
      throw new MoteError("BUSY", "another agent uses this host: stop it, then create the next");
    host.startedBy = this;
    this._usesHost = true;
  }

  releaseHost(): void {
    this._usesHost = this.wanted;
  }

  start(): void {
    this.wanted = true;
    if (this._ending) return;
    this._startSession();
    this.outbox.agentStarts(this.cycling);
    if (!this.firmware) rejectUnmanagedImage(this.host);
    for (const loop of this.session.loops) loop.start();
  }

  stop(): Promise<number> {
    this._stopped = true;
    this.wanted = false;
    const sending = this._ending || this.cycling ? undefined : this.telemetry.sendAtRisk();
    if (!sending) this.session.stop();
    this._cycle?.stopped();
    this._ending ??= this._end(sending);
    return this._ending;
  }

  /** The session stops after `sending`, if that is defined. */
  private async _end(sending: Promise<unknown> | undefined): Promise<number> {
    if (sending) {
      await sending;
      this.session.stop();
    }
    for (const loop of this.session.loops) await loop.ended();
    this.reset.finish();
    // A wake closes the outbox itself at its end.
    const lost = this.cycling ? 0 : this.outbox.saveAll(true);
    if (lost > 0 && !this.wanted)
      this.host.log(
        "error",
        `${lost} points are lost: neither the durable queue nor the store can be written`,
      );
    this._ending = undefined;
    if (this.wanted) this.start();
    return lost;
  }

  /**
   * Starts the provisioning loop only, for `read`, `call` and `claim` before the first `start()`.
   */
  private _startSession(): void {
    if (this.session.running) return;
    this._stopped = false;
    this.session.start();
    this.provisioning.loop.start();
  }

  networkReturned(): void {
    this.session.networkReturned();
  }

  // Implements SessionWatcher.

  callNeedsSession(): void {
    if (!this._stopped) this._startSession();
  }

  dated(ms: Timestamp<"server">): void {
    this.time.learn(ms);
  }

  tokenProven(): void {
    this.provisioning.tokenProven();
  }

  writeProven(): void {
    this.firmware?.proven("attributes");
  }

  unauthorized(): void {
    this.provisioning.unauthorized();
  }
}
