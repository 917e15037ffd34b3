// Puts the agent together: one object per job, the loops started and ended as one.
import type { Host } from "../port.js";
import { AttributesApi } from "./attributes.js";
import { sendClaim } from "./claim.js";
import type { Counters } from "./counters.js";
import { Cycle, type CycleParts } from "./cycle.js";
import { MoteError } from "./errors.js";
import { type AgentEvent, type AgentEvents, type AgentState, Events } from "./events.js";
import { Firmware } from "./firmware.js";
import { Lane } from "./lane.js";
import { Link } from "./link.js";
import { type AgentOptions, checkOptions } from "./options.js";
import { Outbox } from "./outbox.js";
import { rememberedTiming } from "./poll-memory.js";
import { Provisioning } from "./provisioning.js";
import { Reset } from "./reset.js";
import { Rpc } from "./rpc.js";
import { type RpcApi, RpcCalls } from "./rpc-calls.js";
import { Handlers } from "./rpc-handlers.js";
import { Telemetry } from "./telemetry.js";
import { Time } from "./time.js";
import type { Wake, WakeOptions } from "./wake.js";

const FLUSH_MS = 5000;

/**
 * A device of the platform. All of it may be used before `start()` and while offline; `claim`, `attributes.read` and `rpc.call` then wait
 * for the platform until their deadline. They are also what connects without `start()`, but not after `stop()`.
 */
export class Agent {
  readonly telemetry: Telemetry;
  readonly attributes: AttributesApi;
  readonly rpc: RpcApi;
  readonly firmware: Firmware;
  /** What was counted since this agent was made. */
  readonly counters: Counters;
  readonly #host: Host;
  readonly #events: Events;
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #provisioning: Provisioning;
  readonly #rpcLoop: Rpc;
  readonly #uplink: Lane;
  #cycle: Cycle | undefined;
  readonly #makeCycle: () => Cycle;
  #stopped = false;
  #wanted = false;
  #ending: Promise<void> | undefined;
  #refused = false;
  #provisioned = false;
  readonly #reset: Reset;
  /** Time minus the host's clock. */
  #dateOffset: number | undefined;

  /** Throws `BAD_OPTIONS` with all that is wrong with `options`. */
  constructor(host: Host, options: AgentOptions) {
    const checked = checkOptions(options);
    this.#host = host;
    this.#events = new Events(host);
    this.#link = new Link(host, checked.target, checked.connections, this.#events);
    this.counters = this.#link.counters;
    this.#uplink = new Lane(this.#link, "uplink");
    const time = new Time(host);
    this.#outbox = new Outbox(host, time, options.telemetry ?? {});
    this.telemetry = new Telemetry(this.#link, this.#events, time, this.#outbox, options.telemetry ?? {});
    const timing = rememberedTiming(host, checked.target);
    this.attributes = new AttributesApi(this.#link, this.#events, timing, checked.attributes);
    const handlers = new Handlers(host, checked.rpc.answerBytes);
    this.#rpcLoop = new Rpc(this.#link, this.#events, timing, handlers, checked.rpc);
    const calls = new RpcCalls(this.#link, checked.rpc.answerBytes);
    this.rpc = {
      handle: (method, handler, handleOptions = {}) => handlers.add(method, handler, handleOptions),
      call: (method, params, callOptions = {}) => calls.call(method, params, callOptions.timeoutMs),
      answerBytes: checked.rpc.answerBytes,
    };
    this.firmware = new Firmware(this.#link, this.#events, options.firmware, this.telemetry);
    this.#provisioning = new Provisioning(this.#link, this.#events, options.token, options.provisioning);
    this.#makeCycle = () => new Cycle(this.#parts(time), checked.cycle);
    this.#connect(time);
    const parts = [this.#provisioning, this.#outbox, this.attributes, this.#rpcLoop];
    this.#reset = new Reset(this.#link, this.#events, handlers, parts, () => this.stop());
    this.#provisioning.reset = this.#reset;
  }

  /** Answers of the platform that could not be read since this agent was made; each was treated as none. */
  get malformedAnswers(): number {
    return this.counters.malformedAnswers;
  }

  /** Milliseconds since 1970 by the `Date` of the platform's last answer, which over https nobody in between can change; undefined before the first. */
  get platformTime(): number | undefined {
    return this.#dateOffset === undefined ? undefined : this.#host.clock.now() + this.#dateOffset;
  }

  /** What goes on now. */
  get state(): AgentState {
    if (!this.#link.running) return "stopped";
    if (this.#refused) return "refused";
    if (this.#link.online === false) return "offline";
    if (!this.#provisioned) return "provisioning";
    return this.#link.online ? "online" : "connecting";
  }

  /** Calls `listener` at each such event, until the returned function is called. An exception of a listener is logged and goes no further.
   *  Throws `BAD_VALUE` for an event that does not exist, and for what is no function. */
  on<E extends AgentEvent>(event: E, listener: (detail: AgentEvents[E]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /** Begins to talk to the platform, or will as soon as a stop under way is done. Does nothing if it talks already. Throws `BUSY` during a `runOnce`. */
  start(): void {
    if (this.#cycle?.running) throw new MoteError("BUSY", "a wake is under way");
    this.#begin();
  }

  /**
   * One wake of a device that sleeps in between, in place of `start()` and `stop()`: samples, records, and connects only when that is due: in every
   * `cycle.connectEvery`th wake, when the outbox is half full, for an alarm. Then on one connection all that waits is delivered, shared attributes are
   * read, RPCs are answered until a poll of 1 s brings none, and an update goes on. One-way RPCs sent while it sleeps are lost by the platform, as
   * between two polls. Ends by the deadline whatever happens; an attempt that fails is repeated ever more rarely, after 6 h at the most.
   * Rejects with `BUSY` if the agent is started or in a wake, and with `BAD_VALUE` for what is no deadline.
   */
  async runOnce(options: WakeOptions = {}): Promise<Wake> {
    if (this.#cycle?.running || this.#wanted) throw new MoteError("BUSY", "the agent is started");
    this.#cycle ??= this.#makeCycle();
    return this.#cycle.run(options);
  }

  #begin(): void {
    this.#wanted = true;
    if (this.#ending) return;
    this.#wake();
    for (const loop of this.#link.loops) loop.start();
  }

  /** Ends all talk at once and resolves when every loop has ended. What is recorded stays, and can go on being recorded. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#wanted = false;
    this.#link.stop();
    this.#cycle?.stopped();
    this.#provisioned = false;
    this.#refused = false;
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    for (const loop of this.#link.loops) await loop.ended();
    this.#reset.finish();
    this.#ending = undefined;
    if (this.#wanted) this.#begin();
  }

  /** Connects, as far as `read`, `call` and `claim` before the first `start()` need it: with a token, without the loops. */
  #wake(): void {
    if (this.#link.running) return;
    this.#stopped = false;
    this.#link.start();
    this.#provisioning.loop.start();
  }

  /** Sends what is waiting now, without waiting for full batches. True if all of it was delivered within `deadlineMs`.
   *  Rejects with `BAD_VALUE` for what is no deadline. */
  flush(deadlineMs: number): Promise<boolean> {
    return this.telemetry.flush(deadlineMs);
  }

  /**
   * Lets a customer claim the device within `durationMs` by `secretKey` (POST /api/v1/{token}/claim; default: an empty secret, and
   * the platform's duration of 24 h, which is also the longest). The platform answers 200 whatever it makes of it, and the first secret stays
   * until it is used or over. Rejects with `TIMEOUT`, `REFUSED`, `BAD_VALUE` or `STOPPED`.
   */
  async claim(claim: { secretKey?: string; durationMs?: number } = {}): Promise<void> {
    await sendClaim(this.#link, this.#uplink, claim);
  }

  /**
   * Stops the agent and forgets what it keeps: Wi-Fi, access token, telemetry waiting and what is recorded until it is done, client attributes,
   * known shared attributes, RPC in doubt. All else stays: the firmware and its update, also one on trial. The next `start()` begins like a new
   * device. Once begun it is completed by the next start of the machine if need be, whatever cuts it short.
   *
   * Rejects with `STORE_FAILED` if the store does not take it: then the agent goes on as before, or, if it had begun, stays without the
   * platform until the rest could be forgotten, which is tried every minute after `start()`. The RPC `mote.reset` with params `{"confirm":true}` does the same,
   * once the platform has the answer, and restarts the machine.
   */
  reset(): Promise<void> {
    return this.#reset.run();
  }

  #parts(time: Time): CycleParts {
    return {
      host: this.#host,
      link: this.#link,
      events: this.#events,
      time,
      outbox: this.#outbox,
      telemetry: this.telemetry,
      attributes: this.attributes.loop,
      rpc: this.#rpcLoop,
      firmware: this.firmware,
      start: () => this.#begin(),
      stop: () => this.stop(),
    };
  }

  #connect(time: Time): void {
    const { loop } = this.attributes;
    loop.firmware = this.firmware;
    this.firmware.readAgain = () => loop.readSoon();
    this.#link.onAsk = () => {
      if (!this.#stopped) this.#wake();
    };
    this.#link.onDate = (ms) => {
      this.#dateOffset = ms - this.#host.clock.now();
      time.learn(ms);
    };
    this.#link.onReached = () => this.firmware.platformReached();
    this.#provisioning.onFresh = () => loop.provisioned();
    this.#provisioning.onReady = () => {
      this.#provisioned = true;
      this.#refused = false;
    };
    this.#rpcLoop.onPollEnd = () => {
      if (this.#link.mode !== 3 && !this.#link.ways.brief) loop.readSoon();
      // With one connection what waits now would wait for the whole of the next poll.
      if (this.#link.mode === 1) void this.telemetry.flush(FLUSH_MS);
    };
    this.#rpcLoop.onAnswered = (method, text) => this.#reset.answered(method, text);
    this.#events.on("refused", () => {
      this.#refused = true;
    });
  }
}
