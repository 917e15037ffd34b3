// The wakes of a device that sleeps. A wake takes a sample, records it and, if due, runs the normal
// loops of `start()` until all are idle.
//
// State for the next wake is passed as a string, for memory that survives sleep; nothing is written
// to flash. A wake without that string is the first after power-on.

import { isMoteError, MoteError } from "../../errors.js";
import { limited } from "../../guarded.js";
import { random01 } from "../../platform/pace.js";
import { Signal } from "../../platform/signal.js";
import { checkTimeout, DEFAULT_TIMEOUT_MS } from "../../platform/wait.js";
import { storageLogOf } from "../../store.js";
import type { AgentCore } from "./agent-core.js";
import { type Memory, readMemory, writeMemory } from "./memory.js";
import type { CycleSettings } from "./options.js";
import type { Wake, WakeOptions } from "./wake.js";

/** Time for requests in progress to notice the deadline. */
const MARGIN_MS = 200;
const IDLE_CHECK_MS = 50;
/** Log a failure of the storage at most once in this time. */
const COMPLAIN_MS = 86_400_000;
const MIN_SLEEP_MS = 100;
const MAX_SLEEP_MS = 1e11;
/**
 * Random variation of the sleep before a connecting wake, so that devices switched on together
 * spread out.
 */
const JITTER = 0.05;
/** Maximum interval between two attempts, give or take half, unless uploads are rarer anyway. */
const LONGEST_BACKOFF_MS = 6 * 3_600_000;

export class SleepCycle {
  private readonly _parts: AgentCore;
  private readonly _settings: CycleSettings;
  private readonly _signal: Signal;
  private _memory: Memory | undefined;
  private _endedAt = 0;
  private _delivered = 0;
  private _online = false;
  private _mustEnd = false;
  private _endedIdle = false;
  private _restarting = false;
  /** The application stopped or reset the agent, so this wake does not connect any more. */
  private _halted = false;
  /** True during a wake. */
  running = false;

  constructor(parts: AgentCore, settings: CycleSettings) {
    this._parts = parts;
    this._settings = settings;
    this._signal = new Signal(parts.host.clock);
    const { events } = parts;
    const end = () => this._endWake();
    events.on("delivered", ({ points }) => {
      this._delivered += points;
    });
    events.on("online", () => {
      this._online = true;
    });
    events.on("offline", end);
    events.on("refused", end);
    events.on("restart", () => {
      this._restarting = true;
      end();
    });
  }

  stopped(): void {
    this._halted = true;
    this._endWake();
  }

  private _endWake(): void {
    this._mustEnd = true;
    this._signal.notify();
  }

  /** See `Agent.runOnce`. */
  async wakeOnce(options: WakeOptions): Promise<Wake> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    checkTimeout(timeoutMs);
    const { clock } = this._parts.host;
    const began = clock.now();
    this.running = true;
    this._delivered = 0;
    this._online = this._endedIdle = this._restarting = this._halted = false;
    const memory = this._wakeUp(options, began);
    const alarm = await this._sample(options, timeoutMs / 2);
    const reason = this._reason(memory, alarm, options.connect === true);
    const from = clock.now();
    if (reason !== "none") await this._connect(options, memory, began + timeoutMs - MARGIN_MS);
    // A call of the application during the sample may have connected.
    else if (this._parts.session.running) await this._stop();
    memory.radioMs += clock.now() - from;
    memory.points += this._delivered;
    this.running = false;
    return this._end(memory, reason, began, clock.now() - from);
  }

  private _wakeUp({ kept, sleptMs }: WakeOptions, began: number): Memory {
    const before = this._memory;
    const memory = before ?? readMemory(this._parts.host, kept);
    this._memory = memory;
    const asleep = before ? began - this._endedAt : memory.sleepMs;
    const slept = typeof sleptMs === "number" && sleptMs >= 0 && sleptMs < MAX_SLEEP_MS ? sleptMs : asleep;
    const { time, telemetry, attributes, firmware } = this._parts;
    firmware?.slept(memory.update, slept);
    if (!before) telemetry.bodies.wake(memory.telemetry, slept);
    if (!before) attributes.bodies.wake(memory.attributes, slept);
    if (!before) this._parts.session.counters.loggedKeySet = memory.loggedKeySet;
    time.wake(memory.time, slept);
    if (memory.loggedMs > 0) memory.loggedMs += Math.round(slept);
    if (memory.loggedMs >= COMPLAIN_MS) memory.loggedMs = 0;
    storageLogOf(this._parts.host).isSilent = memory.loggedMs > 0;
    memory.wakes++;
    return memory;
  }

  /** Takes and records the sample. True if it is an alarm. */
  private async _sample({ sample }: WakeOptions, limitMs: number): Promise<boolean> {
    const { host, telemetry } = this._parts;
    const taken = sample && (await limited(host, "the sample", limitMs, sample));
    if (typeof taken !== "object" || taken === null) return false;
    let isAlarm = false;
    try {
      const { values, alarm } = taken;
      const isWrapped = typeof values === "object" && values !== null;
      const other = isWrapped && Object.keys(taken).find((key) => key !== "values" && key !== "alarm");
      if (typeof other === "string")
        throw new MoteError("BAD_VALUE", `"${other}" is beside "values": move it into the values`);
      isAlarm = isWrapped && alarm === true;
      telemetry.record(isWrapped ? (values as Record<string, unknown>) : taken);
    } catch (error) {
      host.log(
        "error",
        `could not record the sample: ${isMoteError(error) ? error.message : "unknown error"}`,
      );
    }
    return isAlarm;
  }

  /** The reason why this wake connects. */
  private _reason(memory: Memory, alarm: boolean, asked: boolean): Wake["reason"] {
    const { outbox } = this._parts;
    memory.wakesLeft--;
    if (this._onTrial) return "firmware";
    if (memory.wakes === 1) return "start";
    // After a failure, even alarms wait for the back-off, so that nothing can keep the radio on.
    if ((alarm || asked) && memory.urgent === 0) {
      memory.urgent = 1;
      memory.backoffWakes = 0.5;
      return alarm ? "alarm" : "asked";
    }
    if (memory.wakesLeft <= 0) return memory.update.busy === 1 ? "firmware" : "schedule";
    return outbox.fill >= 0.5 && memory.backoffWakes <= this._settings.connectEvery / 2 ? "outbox" : "none";
  }

  private async _connect({ network }: WakeOptions, memory: Memory, end: number): Promise<void> {
    const { host, session, firmware, telemetry } = this._parts;
    const { clock } = host;
    const { updateMs } = this._settings;
    this._mustEnd = false;
    const joins = network && !this._halted;
    const joined = joins ? await limited(host, "the network", end - clock.now(), network) : true;
    const updateEnd = Math.max(end, clock.now() + updateMs - MARGIN_MS);
    // A new image must not sleep before its trial ends; otherwise the host takes it for a crashed
    // image.
    const isConnecting = (joined === true && !this._halted) || this._onTrial;
    if (isConnecting) {
      session.connections.beginWake(end - clock.now());
      firmware?.wake(memory.update, updateMs / 2);
      this._parts.start();
      void telemetry.flush({ timeoutMs: updateMs });
    }
    while (isConnecting && session.running && !this._idle && (!this._mustEnd || this._onTrial)) {
      const leftMs = (this._onTrial || firmware?.underWay ? updateEnd : end) - clock.now();
      // The token was refused in an earlier wake, and its retry is not due.
      if (leftMs <= 0 || (this._parts.state === "refused" && !this._onTrial)) break;
      await this._signal.wait(Math.min(IDLE_CHECK_MS, leftMs));
    }
    this._endedIdle =
      isConnecting &&
      !this._mustEnd &&
      this._parts.state !== "refused" &&
      this._idle &&
      !telemetry.bodies.outage;
    if (isConnecting) firmware?.sleep(memory.update, this._endedIdle);
    this._schedule(memory, this._endedIdle || this._delivered > 0);
    if (memory.update.busy === 1 && this._online) memory.wakesLeft = 1;
    await this._stop();
  }

  /** Sets when the next attempt is due, after a success or failure. */
  private _schedule(memory: Memory, succeeded: boolean): void {
    const { host } = this._parts;
    const { everyMs, connectEvery } = this._settings;
    if (succeeded) {
      // Devices that were switched on together get different schedules.
      memory.wakesLeft = memory.wakes === 1 ? 1 + Math.floor(random01(host) * connectEvery) : connectEvery;
      memory.urgent = 0;
      memory.backoffWakes = connectEvery / 2;
    } else {
      const most = Math.max(connectEvery, Math.ceil(LONGEST_BACKOFF_MS / everyMs));
      memory.backoffWakes = Math.min(most, memory.backoffWakes * 2);
      memory.wakesLeft = Math.max(1, Math.round(memory.backoffWakes * (0.5 + random01(host))));
    }
  }

  private get _onTrial(): boolean {
    return !this._restarting && this._parts.host.slot.state() === "pending";
  }

  private get _idle(): boolean {
    const { telemetry, attributes, rpc, firmware } = this._parts;
    const isIdle = telemetry.idle && attributes.idle && rpc.idle && !firmware?.busy;
    return isIdle;
  }

  private async _stop(): Promise<void> {
    const stopped = this._parts.stop();
    const { host, session } = this._parts;
    const late = () => session.redactor.clean(session.applicationCalls.join(", ")) || "the end of the wake";
    await limited(host, late, MARGIN_MS / 2, () => stopped);
    this._parts.session.connections.endWake();
  }

  private _end(memory: Memory, reason: Wake["reason"], began: number, radioMs: number): Wake {
    const { host, time, outbox, telemetry, attributes } = this._parts;
    // Save points now, because memory does not survive the sleep.
    const unkept = outbox.saveAll();
    const now = host.clock.now();
    this._endedAt = now;
    time.sleep(memory.time, now - began);
    telemetry.bodies.sleep(memory.telemetry);
    attributes.bodies.sleep(memory.attributes);
    const log = storageLogOf(host);
    if (log.hasLogged) memory.loggedMs = 1;
    log.hasLogged = log.isSilent = false;
    memory.loggedKeySet = this._parts.session.counters.loggedKeySet;
    const { everyMs } = this._settings;
    const spread = memory.wakesLeft <= 1 ? 1 - JITTER + 2 * JITTER * random01(host) : 1;
    memory.sleepMs = Math.max(
      MIN_SLEEP_MS,
      Math.round((everyMs * spread) / memory.time.rate - (now - began)),
    );
    return {
      sleepMs: memory.sleepMs,
      reason,
      connected: this._online,
      idle: this._endedIdle,
      delivered: this._delivered,
      waiting: outbox.waiting,
      unkept,
      radioMs: reason === "none" ? 0 : radioMs,
      radioMsPerPoint: memory.points === 0 ? undefined : memory.radioMs / memory.points,
      wakes: memory.wakes,
      restarting: this._restarting,
      kept: writeMemory(host, memory),
    };
  }
}
