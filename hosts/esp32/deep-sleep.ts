import type { Agent, WakeOptions } from "mote";
import type { BoardHardware } from "./board-hardware.js";
import type { BoardHost } from "./host.js";
import type { Wifi } from "./network/wifi.js";

/** Bytes of the memory that survives deep sleep. */
const KEPT_BYTES = 512;
/** A wake that does not end by itself is ended this long after its limit. */
const GRACE_MS = 10_000;
const FALLBACK_MS = 60_000;
const UPDATE_MS = 600_000;

/** The network of a wake, joined only if the wake connects. */
export interface Joining {
  readonly wifi: Wifi;
  /** Switches the radio on. */
  join(): void;
  /** The wake ended normally. */
  asleep(): void;
}

/**
 * One wake between two deep sleeps. Each wake is a full start of the board. State of earlier wakes
 * is in memory that survives sleep, so a wake that only records writes just its point.
 */
export class DeepSleep {
  private readonly _machine: BoardHardware;
  private readonly _host: BoardHost;
  private readonly _timeoutMs: number;
  private _asleep = false;
  /** Resolves the wait for the network. */
  private _joined: (() => void) | undefined;

  constructor(machine: BoardHardware, host: BoardHost, timeoutMs: number) {
    this._machine = machine;
    this._host = host;
    this._timeoutMs = timeoutMs;
  }

  /**
   * Samples, connects if due, and sleeps. `recovering`: without a sample, and connecting at each
   * wake.
   */
  wake(agent: Agent, sample: unknown, recovering: boolean, joining: Joining): void {
    const { clock } = this._host;
    const updateMs = this._updateMs;
    // Nothing may keep a battery-powered board awake, not even a bug.
    const watchdog = Math.max(this._timeoutMs, updateMs) + GRACE_MS;
    clock.timer(watchdog, () => this._sleep(FALLBACK_MS, undefined, joining));
    const options: WakeOptions = {
      timeoutMs: this._timeoutMs,
      sample: typeof sample === "function" ? (sample as WakeOptions["sample"]) : undefined,
      connect: recovering,
      network: () => this._join(joining),
      kept: this._read(),
      sleptMs: this._host.lastRun.sleptMs,
    };
    agent.runOnce(options).then(
      ({ restarting, sleepMs, kept }) => {
        if (!restarting) this._sleep(sleepMs, kept, joining);
      },
      () => this._sleep(FALLBACK_MS, undefined, joining),
    );
  }

  private get _updateMs(): number {
    const { cycle } = this._machine.config as { cycle?: { updateMs?: number } };
    return cycle?.updateMs ?? UPDATE_MS;
  }

  /** Call at each new address. */
  networkJoined(): void {
    this._joined?.();
  }

  private _join({ join }: Joining): Promise<boolean> {
    return new Promise((resolve) => {
      this._joined = () => resolve(true);
      join();
    });
  }

  private _read(): string | undefined {
    if (this._host.lastRun.sleptMs === undefined) return undefined;
    const bytes = new Uint8Array(KEPT_BYTES);
    this._machine.idf.mote_kept_read(bytes.buffer);
    const end = bytes.indexOf(0);
    return end > 0 ? this._host.decode(bytes.subarray(0, end)) : undefined;
  }

  private _sleep(ms: number, kept: string | undefined, { wifi, asleep }: Joining): void {
    if (this._asleep) return;
    this._asleep = true;
    wifi.stop();
    asleep();
    const bytes = new Uint8Array(KEPT_BYTES);
    const text = this._host.encode(kept ?? "");
    if (text.length < KEPT_BYTES) bytes.set(text);
    const { idf } = this._machine;
    idf.mote_kept_write(bytes.buffer);
    idf.mote_sleep(Math.max(1, Math.round(ms)));
  }
}
