// The public API of the agent.

import { MoteError } from "../errors.js";
import type { AgentEvent, AgentEvents, AgentState } from "../events.js";
import type { Target } from "../http/target.js";
import type { Counters } from "../platform/counters.js";
import type { WaitOptions } from "../platform/wait.js";
import type { Host } from "../port.js";
import type { AttributesApi } from "./attributes/api.js";
import { Core } from "./core.js";
import { type FirmwareApi, NO_FIRMWARE } from "./firmware/api.js";
import type { Wake, WakeOptions } from "./lifecycle/index.js";
import type { AgentOptions } from "./options.js";
import { sendClaim } from "./provisioning/claim.js";
import type { RpcApi } from "./rpc/api.js";
import type { TelemetryApi } from "./telemetry/api.js";
import type { Flushed } from "./telemetry/flush-queue.js";

/**
 * A device of the platform. Usable before `start()` and while offline.
 *
 * Telemetry, attributes and handlers work at any time. `claim`, `attributes.read` and `rpc.call`
 * wait for the platform until their time-out. They connect even without `start()`, but not after
 * `stop()`.
 */
export class Agent {
  /** Records points and delivers them (POST /api/v1/{token}/telemetry). */
  readonly telemetry: TelemetryApi;
  /** Client and shared attributes (/api/v1/{token}/attributes). */
  readonly attributes: AttributesApi;
  /** Server-side and client-side RPC (/api/v1/{token}/rpc). */
  readonly rpc: RpcApi;
  /** Firmware updates; needs the option `firmware`. */
  readonly firmware: FirmwareApi;
  /** Counters since this agent was created. */
  readonly counters: Counters;
  private readonly _core: Core;
  private _closed = false;

  /** Throws `BAD_OPTIONS` with a list of all invalid `options`. */
  constructor(host: Host, options: AgentOptions) {
    const core = new Core(host, options);
    this._core = core;
    this.telemetry = core.telemetry;
    this.attributes = core.attributes;
    this.firmware = core.firmware ?? NO_FIRMWARE;
    this.counters = core.session.counters;
    this.rpc = core.rpc;
  }

  /** Address of the platform. */
  get target(): Target {
    return this._core.session.target;
  }

  /**
   * Milliseconds since 1970, by the `Date` of the platform's last answer; undefined before the
   * first. Over https nobody can forge it.
   */
  get platformTime(): number | undefined {
    return this._core.time.platformNow;
  }

  /** The current state of the connection. */
  get state(): AgentState {
    return this._core.state;
  }

  /**
   * Calls `listener` at each `event` until the returned function is called.
   *
   * An exception of a listener is logged and has no other effect. Throws `BAD_VALUE` for an unknown
   * event or a listener that is not a function.
   */
  on<E extends AgentEvent>(event: E, listener: (detail: AgentEvents[E]) => void): () => void {
    return this._core.events.on(event, listener);
  }

  /**
   * Connects to the platform, after a pending stop has ended. Does nothing if started already.
   * Throws `BUSY` during a `runOnce` or if another agent uses the host, and `STOPPED` after
   * `close()`.
   */
  start(): void {
    if (this._closed) throw new MoteError("STOPPED", "the agent is closed");
    if (this._core.cycling) throw new MoteError("BUSY", "runOnce is still in progress");
    this._core.claimHost();
    this._core.start();
  }

  /**
   * Runs one wake of a device that sleeps; replaces `start()` and `stop()`.
   *
   * Takes a sample, records it, and connects only if that is due: in every `cycle.connectEvery`th
   * wake, when the outbox is half full, or for an alarm. Then one connection delivers all points,
   * reads shared attributes, answers RPCs until a 1 s poll brings none, and continues an update.
   * The platform loses one-way RPCs sent while the device sleeps.
   *
   * Always ends by the time-out. A failed attempt is retried at growing intervals of at most 6 h.
   * Rejects with `BUSY` if the agent is started or in a wake, or if another agent uses the host,
   * and with `BAD_VALUE` for an invalid time-out.
   */
  async runOnce(options: WakeOptions = {}): Promise<Wake> {
    if (this._core.cycling || this._core.wanted) throw new MoteError("BUSY", "the agent is started");
    this._core.claimHost();
    return this._core.cycle.wakeOnce(options);
  }

  /**
   * Stops the agent: aborts all requests and resolves when every loop has ended. Waits for an RPC
   * handler that has begun, within its time limit.
   *
   * Recorded points are kept, and more can be recorded. If flash fails, points in memory are
   * stored, sent within 2 s, or counted by the next start. `lostPoints`: points for which none of
   * these worked, usually 0.
   */
  async stop(): Promise<{ lostPoints: number }> {
    const lostPoints = await this._core.stop();
    this._core.releaseHost();
    return { lostPoints };
  }

  /**
   * Stops the agent for good: a later `start()` throws `STOPPED`. On Node also `await using agent =
   * …`.
   */
  async close(): Promise<{ lostPoints: number }> {
    this._closed = true;
    return this.stop();
  }

  /** Same as `telemetry.flush`. */
  flush(options: WaitOptions = {}): Promise<Flushed> {
    return this.telemetry.flush(options);
  }

  /**
   * Tells the agent that the machine's network (Wi-Fi, DHCP, interface) is back.
   *
   * Called by the host. After an outage, pending requests are sent at once, without the random
   * delay that spreads a fleet over minutes. Does nothing while the platform answers.
   */
  networkReturned(): void {
    this._core.networkReturned();
  }

  /**
   * Allows a customer to claim the device (POST /api/v1/{token}/claim).
   *
   * `secretKey`: default empty. `durationMs`: default and maximum are the platform's 24 h. The
   * platform always answers 200, and a first secret stays valid until it is used or expires.
   * Rejects with `TIMEOUT`, `REFUSED`, `BAD_VALUE` or `STOPPED`.
   */
  async claim(claim: { secretKey?: string; durationMs?: number } & WaitOptions = {}): Promise<void> {
    await sendClaim(this._core.session, claim);
  }

  /**
   * Resets the device: stops the agent and forgets everything that belongs to its owner.
   *
   * Deleted are Wi-Fi settings, access token, waiting telemetry, client attributes, known shared
   * attributes and the RPC journal. The firmware and its update stay, even on trial. The next
   * `start()` begins like a new device. A reset that was interrupted is completed at the next start
   * of the machine.
   *
   * Rejects with `STORE_FAILED` if the store fails. If nothing was deleted yet, the agent continues
   * as before; otherwise it stays offline and retries every minute after `start()`. The RPC
   * `mote.reset` with params `{"confirm":true}` does the same after the platform got the answer,
   * and restarts the machine.
   */
  reset(): Promise<void> {
    return this._core.reset.resetAll();
  }
}
