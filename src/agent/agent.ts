// What the application has of Mote.

import { MoteError } from "../errors.js";
import type { AgentEvent, AgentEvents, AgentState } from "../events.js";
import type { Target } from "../http/target.js";
import type { Counters } from "../platform/counters.js";
import { RequestChannel } from "../platform/index.js";
import type { WaitOptions } from "../platform/wait.js";
import type { Host } from "../port.js";
import { AttributesApi } from "./attributes/api.js";
import { Core } from "./core.js";
import { FirmwareApi } from "./firmware/api.js";
import type { Wake, WakeOptions } from "./lifecycle/index.js";
import type { AgentOptions } from "./options/options.js";
import { sendClaim } from "./provisioning/claim.js";
import { RpcApi } from "./rpc/api.js";
import { TelemetryApi } from "./telemetry/api.js";

/**
 * A device of the platform. All of it may be used before `start()` and while offline; `claim`, `attributes.read` and `rpc.call` then wait
 * for the platform until their deadline. They are also what connects without `start()`, but not after `stop()`.
 */
export class Agent {
  readonly telemetry: TelemetryApi;
  readonly attributes: AttributesApi;
  readonly rpc: RpcApi;
  readonly firmware: FirmwareApi;
  /** What was counted since this agent was made. */
  readonly counters: Counters;
  private readonly _core: Core;
  private _closed = false;

  /** Throws `BAD_OPTIONS` with all that is wrong with `options`. */
  constructor(host: Host, options: AgentOptions) {
    const core = new Core(host, options);
    this._core = core;
    this.telemetry = new TelemetryApi(core.telemetry);
    this.attributes = new AttributesApi(core.attributes);
    this.firmware = new FirmwareApi(core.firmware);
    this.counters = core.session.counters;
    this.rpc = new RpcApi(core.session, core.handlers, core.answerBytes);
  }

  /** Answers of the platform that could not be read since this agent was made; each was treated as none. */
  get malformedAnswers(): number {
    return this.counters.malformedAnswers;
  }

  /** Where the platform is. */
  get target(): Target {
    return this._core.session.target;
  }

  /** Milliseconds since 1970 by the `Date` of the platform's last answer, which over https nobody in between can change; undefined before the first. */
  get platformTime(): number | undefined {
    const { dateOffset, host } = this._core;
    return dateOffset === undefined ? undefined : host.clock.now() + dateOffset;
  }

  /** What goes on now. */
  get state(): AgentState {
    return this._core.state;
  }

  /** Calls `listener` at each such event, until the returned function is called. An exception of a listener is logged and goes no further.
   *  Throws `BAD_VALUE` for an event that does not exist, and for what is no function. */
  on<E extends AgentEvent>(event: E, listener: (detail: AgentEvents[E]) => void): () => void {
    return this._core.events.on(event, listener);
  }

  /** Begins to talk to the platform, or will as soon as a stop under way is done. Does nothing if it talks already. Throws `BUSY` during a `runOnce`. */
  start(): void {
    if (this._closed) throw new MoteError("STOPPED", "the agent is closed");
    if (this._core.cycling) throw new MoteError("BUSY", "a wake is under way");
    this._core.start();
  }

  /**
   * One wake of a device that sleeps in between, in place of `start()` and `stop()`: samples, records, and connects only when that is due: in every
   * `cycle.connectEvery`th wake, when the outbox is half full, for an alarm. Then on one connection all that waits is delivered, shared attributes are
   * read, RPCs are answered until a poll of 1 s brings none, and an update goes on. One-way RPCs sent while it sleeps are lost by the platform, as
   * between two polls. Ends by the deadline whatever happens; an attempt that fails is repeated ever more rarely, after 6 h at the most.
   * Rejects with `BUSY` if the agent is started or in a wake, and with `BAD_VALUE` for what is no deadline.
   */
  async runOnce(options: WakeOptions = {}): Promise<Wake> {
    if (this._core.cycling || this._core.wanted) throw new MoteError("BUSY", "the agent is started");
    return this._core.cycle.run(options);
  }

  /** Keeps a wake that is under way from its end until `work` has come to its own, by the wake's deadline at the latest. Does nothing without a wake. */
  holdWake(work: Promise<unknown>): void {
    if (this._core.cycling) this._core.cycle.hold(work);
  }

  /**
   * Ends all requests at once and resolves when every loop has ended. Recorded points stay, and more can be recorded.
   * If flash fails, points that only memory holds are stored, or sent within 2 s, or counted by the next start.
   * `lostPoints`: points for which none of that worked, because the store fails as well. Usually 0.
   */
  async stop(): Promise<{ lostPoints: number }> {
    return { lostPoints: await this._core.stop() };
  }

  /** Stops the agent for good: a later `start()` throws `STOPPED`. On Node also `await using agent = …`. */
  async close(): Promise<{ lostPoints: number }> {
    this._closed = true;
    return this.stop();
  }

  /** See `telemetry.flush`. */
  flush(options: WaitOptions = {}): Promise<boolean> {
    return this.telemetry.flush(options);
  }

  /**
   * For the host, which knows: the machine's own network was gone and is back (Wi-Fi, DHCP, an interface). After an outage all that waits for its next attempt is
   * tried at once, not only within the minutes over which a fleet spreads. Does nothing while the platform answers.
   */
  networkReturned(): void {
    this._core.networkReturned();
  }

  /**
   * Lets a customer claim the device within `durationMs` by `secretKey` (POST /api/v1/{token}/claim; default: an empty secret, and
   * the platform's duration of 24 h, which is also the longest). The platform answers 200 whatever it makes of it, and the first secret stays
   * until it is used or over. Rejects with `TIMEOUT`, `REFUSED`, `BAD_VALUE` or `STOPPED`.
   */
  async claim(claim: { secretKey?: string; durationMs?: number } & WaitOptions = {}): Promise<void> {
    await sendClaim(this._core.session, new RequestChannel(this._core.session, "application"), claim);
  }

  /**
   * Stops the agent and forgets what it keeps: Wi-Fi, access token, telemetry waiting and what is recorded until it is done, client attributes,
   * known shared attributes, the RPC journal. All else stays: the firmware and its update, also one on trial. The next `start()` begins like a new
   * device. Once begun it is completed by the next start of the machine if need be, whatever cuts it short.
   *
   * Rejects with `STORE_FAILED` if the store does not take it: then the agent goes on as before, or, if it had begun, stays without the
   * platform until the rest could be forgotten, which is tried every minute after `start()`. The RPC `mote.reset` with params `{"confirm":true}` does the same,
   * once the platform has the answer, and restarts the machine.
   */
  reset(): Promise<void> {
    return this._core.reset.run();
  }
}
