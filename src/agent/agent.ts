// Puts the agent together: one object per job, the loops started and ended as one.
import type { Host } from "../port.js";
import { encodeClaim } from "../wire/claim.js";
import type { Json } from "../wire/json.js";
import { CLAIM_PATH } from "../wire/paths.js";
import { ask } from "./ask.js";
import { AttributesApi } from "./attributes.js";
import { MoteError } from "./errors.js";
import { type AgentEvent, type AgentEvents, Events } from "./events.js";
import { Firmware } from "./firmware.js";
import { Lane } from "./lane.js";
import { Link } from "./link.js";
import { type AgentOptions, checkOptions } from "./options.js";
import { Outbox } from "./outbox.js";
import { rememberedTiming } from "./poll-memory.js";
import { Provisioning } from "./provisioning.js";
import { post } from "./requests.js";
import { Rpc } from "./rpc.js";
import { RpcCalls } from "./rpc-calls.js";
import { type HandleOptions, Handlers, type RpcHandler } from "./rpc-handlers.js";
import type { Signal } from "./signal.js";
import { Telemetry } from "./telemetry.js";
import { Time } from "./time.js";

/**
 * `stopped`; `provisioning`: no access token yet; `connecting`: no answer yet; `online`; `offline`: the platform can't be reached;
 * `refused`: the platform does not know the token, or refuses to provision; tried again every 10 minutes.
 */
export type AgentState = "stopped" | "provisioning" | "connecting" | "online" | "offline" | "refused";

/** Server-side and client-side RPC. */
export interface RpcApi {
  /** Handles a server-side RPC. A call of a method without a handler is answered `METHOD_NOT_FOUND`.
   *  Throws `BAD_VALUE` for an empty method, what is no function, and a `timeoutMs` out of its range. */
  handle(method: string, handler: RpcHandler, options?: HandleOptions): void;
  /**
   * A client-side RPC (POST /api/v1/{token}/rpc): resolves with the answer of the platform's rule chain. A stock platform has none for it and never answers.
   * Sent once. Rejects with `TIMEOUT` (default 30,000 ms), `REFUSED`, `BAD_VALUE`, `TOO_LARGE` or `STOPPED`.
   */
  call(method: string, params: unknown, options?: { timeoutMs?: number }): Promise<Json>;
}

const CLAIM_DEADLINE_MS = 30_000;
const FLUSH_MS = 5000;
const LOOP_RESTART_MS = 10_000;

/**
 * A device of the platform. All of it may be used before `start()` and while offline; `claim`, `attributes.read` and `rpc.call` then wait
 * for the platform until their deadline. They are also what connects without `start()`, but not after `stop()`.
 */
export class Agent {
  readonly telemetry: Telemetry;
  readonly attributes: AttributesApi;
  readonly rpc: RpcApi;
  readonly firmware: Firmware;
  readonly #host: Host;
  readonly #events: Events;
  readonly #link: Link;
  readonly #outbox: Outbox;
  readonly #provisioning: Provisioning;
  readonly #rpcLoop: Rpc;
  readonly #uplink: Lane;
  #loops: Promise<void>[] = [];
  #stopped = false;
  #wanted = false;
  #ending: Promise<void> | undefined;
  #refused = false;
  #provisioned = false;
  #forgets = false;
  /** Time minus the host's clock. */
  #dateOffset: number | undefined;

  /** Throws `BAD_OPTIONS` with all that is wrong with `options`. */
  constructor(host: Host, options: AgentOptions) {
    const checked = checkOptions(options);
    this.#host = host;
    this.#events = new Events(host);
    this.#link = new Link(host, checked.target, checked.connections, this.#events);
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
    };
    this.firmware = new Firmware(this.#link, this.#events, options.firmware, this.telemetry);
    this.#provisioning = new Provisioning(this.#link, this.#events, options.token, options.provisioning);
    this.#connect(time);
  }

  /** Answers of the platform that could not be read since this agent was made; each was treated as none. */
  get malformedAnswers(): number {
    return this.#link.malformedAnswers;
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

  /** Begins to talk to the platform, or will as soon as a stop under way is done. Does nothing if it talks already. */
  start(): void {
    this.#wanted = true;
    if (this.#ending) return;
    this.#wake();
    if (this.#loops.length > 1) return;
    this.#loops.push(
      this.#guard("telemetry", () => this.telemetry.run()),
      this.#guard("attributes", () => this.attributes.loop.run()),
      this.#guard("rpc", () => this.#rpcLoop.run()),
      this.#guard("firmware", () => this.firmware.run()),
    );
  }

  /** Ends all talk at once and resolves when every loop has ended. What is recorded stays, and can go on being recorded. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#wanted = false;
    this.#link.stop();
    this.#provisioned = false;
    this.#refused = false;
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    await Promise.all(this.#loops);
    this.#loops = [];
    if (this.#forgets) this.#forget();
    this.#ending = undefined;
    if (this.#wanted) this.start();
  }

  /** Connects, as far as `read`, `call` and `claim` before the first `start()` need it: with a token, without the loops. */
  #wake(): void {
    if (this.#link.running) return;
    this.#stopped = false;
    this.#link.start();
    this.#loops = [this.#guard("provisioning", () => this.#provisioning.run())];
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
    const encoded = encodeClaim(claim);
    if (!encoded.ok) throw new MoteError("BAD_VALUE", encoded.reason);
    const body = this.#host.encode(encoded.text);
    await ask(this.#link, this.#uplink, post(CLAIM_PATH, body), CLAIM_DEADLINE_MS);
  }

  /**
   * Stops the agent and forgets what it keeps: access token, telemetry waiting, client attributes, known shared attributes, RPC in
   * doubt. The firmware and what is known of its update stay. The next `start()` begins like a new device.
   */
  async reset(): Promise<void> {
    this.#forgets = true;
    await this.stop();
  }

  /** Before a start that was asked for meanwhile. */
  #forget(): void {
    this.#forgets = false;
    this.#provisioning.forget();
    this.#outbox.forget();
    this.attributes.forget();
    this.#rpcLoop.forget();
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
      if (this.#link.mode !== 3) loop.readSoon();
      // With one connection what waits now would wait for the whole of the next poll.
      if (this.#link.mode === 1) void this.telemetry.flush(FLUSH_MS);
    };
    this.#events.on("refused", () => {
      this.#refused = true;
    });
  }

  /** A mistake of the agent's own must not silence it: the loop begins anew. */
  async #guard(name: string, run: () => Promise<void>): Promise<void> {
    let rest: Signal | undefined;
    while (this.#link.running) {
      try {
        await run();
      } catch (error) {
        const what = error instanceof Error ? `${error.name}: ${error.message.slice(0, 80)}` : "unknown";
        this.#host.log("error", `the ${name} loop failed and begins anew in 10 s (${what})`);
        rest ??= this.#link.signal();
        await rest.wait(LOOP_RESTART_MS);
      }
    }
  }
}
