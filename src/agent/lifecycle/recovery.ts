// Keeps a device reachable when its application crashes repeatedly. After five crashes in ten
// minutes, the agent starts without the application, so that a fix can arrive. It also counts
// consecutive power-ons shorter than ten seconds: with three, a person asks for the setup page.

import type { Events } from "../../events.js";
import { guarded } from "../../guarded.js";
import type { Host, LastRun } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import { isObject } from "../../wire/text/json.js";
import type { AttributesApi } from "../attributes/api.js";
import type { RpcApi } from "../rpc/api.js";

/** The parts of the agent that recovery needs: importing the agent would be circular. */
interface AttachedAgent {
  readonly attributes: Pick<AttributesApi, "publish">;
  readonly rpc: Pick<RpcApi, "handle">;
  readonly on: Events["on"];
}

const KEY = "recovery";
const CRASHES = 5;
const WINDOW_MS = 600_000;
const STAY_MS = 3_600_000;
/** Interval at which elapsed time is stored; a crash may lose this much. */
const TICK_MS = 30_000;
/** Delay for delivering the answer of the RPC. */
const RESTART_MS = 5000;
const CAUSE_LENGTH = 200;
/** Number of consecutive power-ons shorter than QUICK_MS. */
const CYCLES = 3;
const QUICK_MS = 10_000;

interface RecoveryRecord {
  image: string;
  /**
   * For each crash of the last ten minutes, the run time since it in ms. Time without power does
   * not count.
   */
  ages: number[];
  /** ms left in recovery mode; 0: not in it. */
  leftMs: number;
  cause: string;
  /**
   * A restart is expected, or an image is on trial: however this run ends, it does not count as a
   * crash of the image that runs next.
   */
  restartExpected: boolean;
  /** A recovery was published, so its end is published too. */
  reported: boolean;
  /** Number of consecutive short power-ons. */
  cycles: number;
}

/**
 * Recovery mode. Create it once, before the agent and before any code of the application:
 *
 *     const recovery = new Recovery(host, VERSION);
 *     const agent = new Agent(host, options);
 *     if (!recovery.active) application(agent, host);
 *     recovery.attach(agent);
 *     agent.start();
 *
 * A pending image is not counted: the host rolls back at its first crash.
 */
export class Recovery {
  private readonly _host: Host;
  private readonly _knowsCrashes: boolean;
  private _record: RecoveryRecord;
  private _isDownloading = false;
  private _cancel: (() => void) | undefined;
  private _cancelQuick: (() => void) | undefined;
  /** True if the application must not be started. */
  readonly active: boolean;

  /**
   * True, once, if three short power-ons came before this one: a person asks for the setup page.
   * Call before the constructor.
   */
  static takeSetupRequest(host: Host): boolean {
    const record = readRecord(host);
    const isAskedFor = host.lastRun?.powered === true && (record?.cycles ?? 0) >= CYCLES;
    if (!record || !isAskedFor || host.slot.state() === "pending") return false;
    writeStored(host, KEY, { ...record, cycles: 0 });
    return true;
  }

  /** `image`: identifies the running image, for example its version or digest. */
  constructor(host: Host, image: string) {
    const lastRun: Partial<LastRun> = host.lastRun ?? {};
    const { crash, powered = false, crashes = 0, sleptMs = 0 } = lastRun;
    this._host = host;
    this._knowsCrashes = crash !== undefined;
    const before = readRecord(host);
    const record = before ?? newRecord(image, false);
    const pending = host.slot.state() === "pending";
    const crashed =
      !record.restartExpected && !powered && (this._knowsCrashes ? crash !== false : before !== undefined);
    this._record = { ...afterSleep(record, sleptMs), restartExpected: pending };
    if (!pending) this._countCrash(image, crashed, crash || "unknown", crashes);
    if (!pending) this._countPowerCycle(powered, crashed);
    this.active = !pending && this._record.leftMs > 0;
    const changed = JSON.stringify(this._record) !== JSON.stringify(before ?? newRecord(image, false));
    // If the host cannot detect crashes, the stored record marks that a run began.
    if (changed || (!before && !this._knowsCrashes)) this._save();
    if (this.active) host.log("error", `recovery mode: the application is not started (${this.cause})`);
    this._tick();
    if (this._record.cycles > 0) this._cancelQuick = host.clock.timer(QUICK_MS, () => this.markStable());
  }

  /** Why the application is not started, at most 200 characters; empty if it is started. */
  get cause(): string {
    return this.active ? this._clean(this._record.cause) : "";
  }

  /**
   * Connects recovery to the agent.
   *
   * Publishes the cause as client attribute `moteRecovery`, empty after recovery mode. In recovery
   * mode, answers the RPC `mote.restart`: with params `{"application":true}` the application starts
   * again; otherwise the device restarts in recovery mode.
   */
  attach(agent: AttachedAgent): void {
    agent.on("restart", () => this._expectRestart());
    agent.on("firmware", ({ state }) => {
      this._isDownloading = state === "DOWNLOADING";
    });
    const publish = () => agent.attributes.publish({ moteRecovery: this.cause });
    if (this._record.reported) guarded(this._host, "could not publish the cause of recovery mode", publish);
    if (!this.active) return;
    agent.rpc.handle("mote.restart", (params) => {
      const leave = isObject(params) && params.application === true;
      this._host.clock.timer(RESTART_MS, () => (leave ? this._leave() : this._restart()));
      return true;
    });
  }

  /** This start is not a short one. Called after 10 s, or earlier at an orderly end. */
  markStable(): void {
    this._cancelQuick?.();
    if (this._record.cycles === 0) return;
    this._record.cycles = 0;
    this._save();
  }

  /** Cancels the timers. Stored data remains. */
  cancelTimers(): void {
    this._cancel?.();
    this._cancelQuick?.();
  }

  /** The text of an engine or application may contain a secret. */
  private _clean(words: string): string {
    return this._host.redactor?.clean(words) ?? words;
  }

  private _countCrash(image: string, crashed: boolean, cause: string, countedByHost: number): void {
    const record = this._record;
    if (record.image !== image) this._record = newRecord(image, record.reported);
    else if (crashed && record.leftMs === 0) {
      record.ages = record.ages.concat(0).slice(-CRASHES);
      record.cause = cause.slice(0, CAUSE_LENGTH);
      if (Math.max(record.ages.length, countedByHost) >= CRASHES) this._enter();
    }
  }

  private _countPowerCycle(powered: boolean, crashed: boolean): void {
    const record = this._record;
    // An unstable power supply must not keep the device in recovery mode.
    if (powered) record.leftMs = Math.max(0, record.leftMs - TICK_MS);
    if (powered) record.cycles = Math.min(CYCLES, record.cycles + 1);
    else if (!crashed) record.cycles = 0;
  }

  private _enter(): void {
    Object.assign(this._record, { ages: [], leftMs: STAY_MS, reported: true, cycles: 0 });
  }

  private _tick(): void {
    if (!this.active && this._record.ages.length === 0) return;
    this._cancel = this._host.clock.timer(TICK_MS, () => {
      const record = this._record;
      if (this.active) record.leftMs = Math.max(1, record.leftMs - TICK_MS);
      else record.ages = grownOlder(record.ages, TICK_MS);
      // Stay in recovery mode while an update is in progress, because that is its purpose.
      if (this.active && record.leftMs === 1 && !this._isDownloading) return this._leave();
      this._save();
      this._tick();
    });
  }

  /** Ends recovery mode: the next start is a normal one. */
  private _leave(): void {
    Object.assign(this._record, { leftMs: 0, ages: [], cycles: 0 });
    this._save();
    this._restart();
  }

  private _restart(): void {
    this.cancelTimers();
    this._expectRestart();
    this._host.restart("recovery");
  }

  private _expectRestart(): void {
    if (this._knowsCrashes || this._record.restartExpected) return;
    this._record.restartExpected = true;
    this._save();
  }

  private _save(): void {
    writeStored(this._host, KEY, this._record);
  }
}

const grownOlder = (ages: number[], ms: number): number[] =>
  ages.map((age) => age + ms).filter((age) => age < WINDOW_MS);

/** Accounts for time in which the machine slept. */
const afterSleep = (record: RecoveryRecord, ms: number): RecoveryRecord => {
  return { ...record, ages: grownOlder(record.ages, ms), leftMs: Math.max(0, record.leftMs - ms) };
};

const newRecord = (image: string, reported: boolean): RecoveryRecord => {
  return { image, ages: [], leftMs: 0, cause: "", restartExpected: false, reported, cycles: 0 };
};

const readRecord = (host: Host): RecoveryRecord | undefined => {
  const record = readStored(host, KEY);
  if (!isObject(record) || typeof record.image !== "string") return undefined;
  const { image, ages, leftMs, cause, restartExpected, reported, cycles } = record;
  return {
    image,
    ages: Array.isArray(ages) ? ages.filter((age) => typeof age === "number") : [],
    leftMs: typeof leftMs === "number" ? Math.min(leftMs, STAY_MS) : 0,
    cause: typeof cause === "string" ? cause.slice(0, CAUSE_LENGTH) : "",
    restartExpected: restartExpected === true,
    reported: reported === true,
    cycles: typeof cycles === "number" ? cycles : 0,
  };
};
