import type { WakeOptions } from "mote";
import type { Recovery } from "../../src/board-module.js";
import type { Device, Sleeper } from "../device/assemble.js";
import type { BoardHardware } from "./board-hardware.js";
import { BROWNOUT } from "./crash-record.js";
import type { BoardHost } from "./host.js";
import type { Wifi } from "./network/wifi.js";

/** Bytes of the memory that survives deep sleep. */
const KEPT_BYTES = 512;
/** A wake that does not end by itself is ended this long after its limit. */
const GRACE_MS = 10_000;
const FALLBACK_MS = 60_000;
/** Limits of the sleep after a brownout. */
const BROWNOUT_MS = { least: 60_000, most: 3_600_000 } as const;
const UPDATE_MS = 600_000;

/**
 * One wake between two deep sleeps. Each wake is a full start of the board. State of earlier wakes
 * is in memory that survives sleep, so a wake that only records writes just its point. The network
 * is joined only if the wake connects.
 */
export class DeepSleep implements Sleeper {
  private readonly _machine: BoardHardware;
  private readonly _host: BoardHost;
  /** Undefined if no network is configured. */
  private readonly _wifi: Wifi | undefined;
  private readonly _timeoutMs: number;
  private _asleep = false;
  /** Resolves the wait for the network. */
  private _joined: (() => void) | undefined;

  constructor(machine: BoardHardware, host: BoardHost, wifi: Wifi | undefined, timeoutMs: number) {
    this._machine = machine;
    this._host = host;
    this._wifi = wifi;
    this._timeoutMs = timeoutMs;
  }

  /**
   * Samples, connects if due, and sleeps. In recovery mode, it connects at each wake. After a
   * brownout, it only sleeps.
   */
  wake({ agent, sample, recovery }: Device<unknown>): void {
    const { clock, lastRun } = this._host;
    const { everyMs = BROWNOUT_MS.least, updateMs = UPDATE_MS } = this._cycle;
    // The start after a reset connects. With a weak battery, it would end in the next brownout.
    if (lastRun.reset === BROWNOUT) {
      this._sleep(Math.min(BROWNOUT_MS.most, Math.max(BROWNOUT_MS.least, everyMs)), undefined, recovery);
      return;
    }
    // Nothing may keep a battery-powered board awake, not even a bug.
    const watchdog = Math.max(this._timeoutMs, updateMs) + GRACE_MS;
    clock.timer(watchdog, () => this._sleep(FALLBACK_MS, undefined, recovery));
    const options: WakeOptions = {
      timeoutMs: this._timeoutMs,
      sample: typeof sample === "function" ? (sample as WakeOptions["sample"]) : undefined,
      connect: recovery.active,
      network: () => this._join(),
      kept: this._read(),
      sleptMs: lastRun.sleptMs,
    };
    agent.runOnce(options).then(
      ({ restarting, sleepMs, kept }) => {
        if (!restarting) this._sleep(sleepMs, kept, recovery);
      },
      () => this._sleep(FALLBACK_MS, undefined, recovery),
    );
  }

  private get _cycle(): { readonly everyMs?: number; readonly updateMs?: number } {
    return (this._machine.config.cycle ?? {}) as DeepSleep["_cycle"];
  }

  /** Call at each new address. */
  networkJoined(): void {
    this._joined?.();
  }

  private _join(): Promise<boolean> {
    return new Promise((resolve) => {
      this._joined = () => resolve(true);
      this._wifi?.start();
    });
  }

  private _read(): string | undefined {
    if (this._host.lastRun.sleptMs === undefined) return undefined;
    const bytes = new Uint8Array(KEPT_BYTES);
    this._machine.idf.mote_kept_read(bytes.buffer);
    const end = bytes.indexOf(0);
    return end > 0 ? this._host.decode(bytes.subarray(0, end)) : undefined;
  }

  private _sleep(ms: number, kept: string | undefined, recovery: Recovery): void {
    if (this._asleep) return;
    this._asleep = true;
    this._wifi?.stop();
    recovery.markStable();
    this._host.endIfShort();
    // After a deep sleep the boot loader starts the same image again, even one on trial.
    if (this._host.slot.state() === "pending") {
      this._host.restart("the wake ended before the trial of its image");
      return;
    }
    const bytes = new Uint8Array(KEPT_BYTES);
    const text = this._host.encode(kept ?? "");
    if (text.length < KEPT_BYTES) bytes.set(text);
    const { idf } = this._machine;
    idf.mote_kept_write(bytes.buffer);
    idf.mote_sleep(Math.max(1, Math.round(ms)));
  }
}
