// The wakes of a device that sleeps in between: sample, record, and now and then all that needs the platform, by the loops of
// `start()` themselves, which run until none of them has anything left to do.
//
// What a wake must know of those before it is handed over as a text, for memory that outlives the sleep and nothing else: no flash is
// written for it. Without it a wake is the first after power-on.
import { share } from "../net/backoff.js";
import type { Core } from "./core.js";
import { checkDeadline } from "./deadline.js";
import { MoteError } from "./errors.js";
import { limited } from "./guarded.js";
import type { CycleSettings } from "./options.js";
import { Signal } from "./signal.js";
import {
  type Memory,
  measure,
  readMemory,
  schedule,
  type Wake,
  type WakeOptions,
  writeMemory,
} from "./wake.js";

const DEADLINE_MS = 30_000;
/** For what is under way at the deadline to see that it is over. */
const MARGIN_MS = 200;
const LOOK_MS = 50;
const SHORTEST_SLEEP_MS = 100;
/** More than this nobody slept. */
const MOST_SLEEP_MS = 1e11;
/** Of the sleep before a wake that connects, either way: devices switched on together come apart. */
const JITTER = 0.05;

export { CYCLE } from "./wake.js";

/** The agent's own pieces. */
type Parts = Pick<
  Core,
  | "host"
  | "link"
  | "events"
  | "time"
  | "outbox"
  | "telemetry"
  | "attributes"
  | "rpc"
  | "firmware"
  | "start"
  | "stop"
>;

export class Cycle {
  readonly #parts: Parts;
  readonly #settings: CycleSettings;
  readonly #signal: Signal;
  readonly #mode: 1 | 2 | 3;
  #memory: Memory | undefined;
  #endedAt = 0;
  #delivered = 0;
  #online = false;
  #over = false;
  #done = false;
  #restarting = false;
  /** The application stopped the agent, or reset it: this wake does not connect any more. */
  #halted = false;
  /** A wake is under way. */
  running = false;

  constructor(parts: Parts, settings: CycleSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#signal = new Signal(parts.host.clock);
    this.#mode = parts.link.mode;
    const { events } = parts;
    const end = () => this.#enough();
    events.on("delivered", ({ points }) => {
      this.#delivered += points;
    });
    events.on("online", () => {
      this.#online = true;
    });
    events.on("offline", end);
    events.on("refused", end);
    events.on("restart", () => {
      this.#restarting = true;
      end();
    });
  }

  /** The agent was stopped. */
  stopped(): void {
    this.#halted = true;
    this.#enough();
  }

  /** Nothing more is to be had of this wake. */
  #enough(): void {
    this.#over = true;
    this.#signal.notify();
  }

  /** See `Agent.runOnce`. */
  async run(options: WakeOptions): Promise<Wake> {
    const { deadline = DEADLINE_MS } = options;
    checkDeadline(deadline);
    const { clock } = this.#parts.host;
    const began = clock.now();
    this.running = true;
    this.#delivered = 0;
    this.#online = this.#done = this.#restarting = this.#halted = false;
    const memory = this.#wakeUp(options, began);
    const alarm = await this.#sample(options, deadline / 2);
    const reason = this.#reason(memory, alarm, options.connect === true);
    const from = clock.now();
    if (reason !== "none") await this.#connect(options, memory, began + deadline - MARGIN_MS);
    // What the application asked for while it took its sample connects, too.
    else if (this.#parts.link.running) await this.#stop();
    memory.radio += clock.now() - from;
    memory.points += this.#delivered;
    this.running = false;
    return this.#end(memory, reason, began, clock.now() - from);
  }

  #wakeUp({ kept, sleptMs }: WakeOptions, began: number): Memory {
    const before = this.#memory;
    const memory = before ?? readMemory(this.#parts.host, kept);
    this.#memory = memory;
    const asleep = before ? began - this.#endedAt : memory.sleep;
    const slept = typeof sleptMs === "number" && sleptMs >= 0 && sleptMs < MOST_SLEEP_MS ? sleptMs : asleep;
    memory.own += slept;
    const passed = slept * memory.rate;
    if (memory.retry > 0) memory.retry = Math.max(0, memory.retry - slept);
    const { time } = this.#parts;
    if (memory.exactFrom < 0) memory.exactFrom = time.ticks;
    time.awake(memory.at && memory.at + passed, memory.ticks + passed, memory.exactFrom, memory.own);
    memory.wakes++;
    return memory;
  }

  /** Takes the sample and records it. True if it is an alarm. */
  async #sample({ sample }: WakeOptions, limitMs: number): Promise<boolean> {
    const { host, telemetry } = this.#parts;
    const taken = sample && (await limited(host, "the sample", limitMs, sample));
    if (typeof taken !== "object" || taken === null) return false;
    const { values, alarm } = taken;
    const wrapped = typeof values === "object" && values !== null;
    try {
      telemetry.record(wrapped ? (values as Record<string, unknown>) : taken);
    } catch (error) {
      host.log("error", `the sample: ${error instanceof MoteError ? error.message : "unknown"}`);
    }
    return wrapped && alarm === true;
  }

  /** Why this wake connects. */
  #reason(memory: Memory, alarm: boolean, asked: boolean): Wake["reason"] {
    const { outbox } = this.#parts;
    memory.due--;
    if (this.#onTrial) return "firmware";
    if (memory.wakes === 1) return "start";
    // What could not be told at once is tried again as `due` says: nobody may keep a radio on by it.
    if ((alarm || asked) && memory.urgent === 0) {
      memory.urgent = 1;
      memory.step = 0.5;
      return alarm ? "alarm" : "asked";
    }
    if (memory.due <= 0) return memory.busy === 1 ? "firmware" : "schedule";
    return outbox.fill >= 0.5 && memory.step <= this.#settings.connectEvery / 2 ? "outbox" : "none";
  }

  async #connect({ network }: WakeOptions, memory: Memory, end: number): Promise<void> {
    const { host, link, firmware, telemetry } = this.#parts;
    const { clock } = host;
    const { updateMs } = this.#settings;
    this.#over = false;
    const joins = network && !this.#halted;
    const joined = joins ? await limited(host, "the network", end - clock.now(), network) : true;
    const long = Math.max(end, clock.now() + updateMs - MARGIN_MS);
    // A new image must not sleep before it is kept or given up, with a network or without: the host would take it for one that crashed.
    const runs = (joined === true && !this.#halted) || this.#onTrial;
    if (runs) {
      this.#alone(1, true);
      firmware.awake(memory, updateMs / 2);
      this.#parts.start();
      void telemetry.flush(updateMs);
    }
    while (runs && link.running && !this.#settled && (!this.#over || this.#onTrial)) {
      const rest = (this.#onTrial || firmware.underWay ? long : end) - clock.now();
      if (rest <= 0) break;
      await this.#signal.wait(Math.min(LOOK_MS, rest));
    }
    this.#done = runs && !this.#over && this.#settled;
    if (runs) firmware.asleep(memory, this.#done);
    schedule(memory, this.#settings, this.#done || this.#delivered > 0, () => share(host));
    if (memory.busy === 1 && this.#online) memory.due = 1;
    await this.#stop();
  }

  get #onTrial(): boolean {
    return !this.#restarting && this.#parts.host.slot.state() === "pending";
  }

  get #settled(): boolean {
    const { telemetry, attributes, rpc, firmware } = this.#parts;
    return telemetry.settled && attributes.loop.settled && rpc.settled && !firmware.busy;
  }

  async #stop(): Promise<void> {
    const stopped = this.#parts.stop();
    await limited(this.#parts.host, "what the application does", MARGIN_MS / 2, () => stopped);
    this.#alone(this.#mode, false);
  }

  #end(memory: Memory, reason: Wake["reason"], began: number, radioMs: number): Wake {
    const { host, time, outbox } = this.#parts;
    // Memory does not outlive the sleep.
    outbox.sync();
    const now = host.clock.now();
    this.#endedAt = now;
    memory.own += now - began;
    const wall = time.now() ?? 0;
    if (time.told) measure(memory, wall);
    memory.at = wall;
    memory.ticks = time.ticks;
    const { everyMs } = this.#settings;
    const apart = memory.due <= 1 ? 1 - JITTER + 2 * JITTER * share(host) : 1;
    memory.sleep = Math.max(SHORTEST_SLEEP_MS, Math.round((everyMs * apart) / memory.rate - (now - began)));
    return {
      sleepMs: memory.sleep,
      reason,
      connected: this.#online,
      settled: this.#done,
      delivered: this.#delivered,
      waiting: outbox.waiting,
      radioMs: reason === "none" ? 0 : radioMs,
      radioMsPerPoint: memory.points === 0 ? undefined : memory.radio / memory.points,
      wakes: memory.wakes,
      restarting: this.#restarting,
      kept: writeMemory(host, memory),
    };
  }

  /** One connection for all, and brief polls. */
  #alone(mode: 1 | 2 | 3, brief: boolean): void {
    const { link } = this.#parts;
    link.mode = mode;
    Object.assign(link.ways, { mode, brief });
  }
}
