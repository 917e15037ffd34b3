import type { Host } from "../../../src/port.js";

/** The parts of the SDK's Wi-Fi that are used. */
export interface Radio {
  /** Throws during a connection attempt, and if the driver refuses. */
  connect(options: { SSID: string; password?: string }): void;
  disconnect(): void;
  /** Scans for networks; not every radio can. Throws during a scan, and if the driver refuses. */
  scan?(options: {
    onFound(network: { SSID: string; RSSI: number; security: string }): void;
    onComplete(): void;
  }): void;
  close(): void;
  /** 200 off, 300 connecting, 400 associated, 500 has an address. */
  readonly connection: number;
}

export type MakeRadio = (changed: () => void) => Radio;

export interface AccessPoint {
  readonly ssid: string;
  readonly password?: string | undefined;
}

export interface Network extends AccessPoint {
  /** Joined if the first network is unavailable. */
  readonly second?: AccessPoint | undefined;
}

type State = "off" | "joining" | "online" | "waiting";
type Trigger = "start" | "up" | "down" | "late" | "due" | "stop";

/** The next state; missing events change nothing. */
const NEXT: { readonly [S in State]: { readonly [T in Trigger]?: State } } = {
  off: { start: "joining" },
  joining: { up: "online", down: "waiting", late: "waiting", stop: "off" },
  online: { down: "waiting", late: "waiting", stop: "off" },
  waiting: { due: "joining", up: "online", stop: "off" },
} as const;

/**
 * Limit from joining to an address, because some access points never answer. Two networks get half
 * each, so that a wake can try both.
 */
const JOIN_MS = 30_000;
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/**
 * Joins the network, and rejoins it after a loss, which the SDK does not do. The first retry comes
 * after 1 s; the delay doubles up to a minute, and half of it is random. With a second network,
 * they take turns: a failed join, or a network without access to the platform, switches to the
 * other. After a loss, the lost network is tried first.
 */
export class Wifi {
  private readonly _make: MakeRadio;
  private _network: Network;
  private readonly _host: Pick<Host, "clock" | "random" | "log">;
  private readonly _dice = new Uint8Array(1);
  private _state: State = "off";
  private _radio: Radio | undefined;
  private _delayMs = FIRST_MS;
  /** True if the second network is next, or in use. */
  private _isSecond = false;
  private _cancel: () => void = () => {};
  /** True if the board left the network on purpose, and no join failed since. */
  private _leftOnPurpose = false;
  /** The network was joined at least once. */
  hasJoined = false;
  private readonly _onOnline: (returned: boolean) => void;

  /**
   * `onOnline`: called at each new address. `returned`: the network was lost and is back; false if
   * the board had left it on purpose.
   */
  constructor(
    make: MakeRadio,
    network: Network,
    host: Pick<Host, "clock" | "random" | "log">,
    onOnline: (returned: boolean) => void,
  ) {
    this._make = make;
    this._network = network;
    this._host = host;
    this._onOnline = onOnline;
  }

  get online(): boolean {
    return this._state === "online";
  }

  start(): void {
    this._transition("start");
  }

  stop(): void {
    this._transition("stop");
  }

  /** Leaves the network and joins this one from now on. */
  use(network: Network): void {
    this.stop();
    this._network = network;
    this._isSecond = false;
    this._delayMs = FIRST_MS;
    this.start();
  }

  /** Replaces the second network. It is used when the first one is next unavailable. */
  setSecond(second: AccessPoint | undefined): void {
    this._network = { ...this._network, second };
  }

  /**
   * Joins again if online. Call it when the platform is unreachable: the address may have expired,
   * which the driver does not report.
   */
  rejoin(): void {
    if (!this.online) return;
    this._takeTurns();
    this._transition("late");
    this._leftOnPurpose = true;
  }

  private _transition(trigger: Trigger): void {
    const next = NEXT[this._state][trigger];
    if (next === undefined) return;
    if (this._state === "joining" && next === "waiting") this._takeTurns();
    this._state = next;
    this._cancel();
    this._cancel = () => {};
    if (next === "joining") this._join();
    else if (next === "waiting") this._wait(trigger);
    else if (next === "online") this._arrived();
    else this._hangUp();
  }

  private _takeTurns(): void {
    this._isSecond = !this._isSecond && this._network.second !== undefined;
  }

  private _join(): void {
    const { second } = this._network;
    this._later(second ? JOIN_MS / 2 : JOIN_MS, "late");
    try {
      this._radio ??= this._make(() => this._changed());
      const { ssid, password } = (this._isSecond && second) || this._network;
      if (this._radio.connection >= 500) this._transition("up");
      else this._radio.connect({ SSID: ssid, ...(password ? { password } : {}) });
    } catch {
      this._transition("down");
    }
  }

  private _arrived(): void {
    this._delayMs = FIRST_MS;
    this.hasJoined = true;
    this._host.log("info", this._isSecond ? "Wi-Fi: online, by the second network" : "Wi-Fi: online");
    const returned = !this._leftOnPurpose;
    this._leftOnPurpose = false;
    this._onOnline(returned);
  }

  private _wait(why: Trigger): void {
    const delay = this._delayMs;
    this._leftOnPurpose = false;
    // The second network gets its first attempt as soon as the first one.
    if (!this._isSecond) this._delayMs = Math.min(LONGEST_MS, delay * 2);
    this._host.random(this._dice);
    const ms = Math.round(delay * (0.5 + (this._dice[0] as number) / 512));
    // A radio that did not answer may be stuck, so the next attempt creates a new one.
    if (why === "late") this._hangUp();
    this._host.log("warn", `Wi-Fi: ${why === "late" ? "no answer" : "not connected"}, again in ${ms} ms`);
    this._later(ms, "due");
  }

  private _later(ms: number, trigger: Trigger): void {
    this._cancel = this._host.clock.timer(ms, () => this._transition(trigger));
  }

  /** Called by the SDK: an exception would restart the board. */
  private _changed(): void {
    try {
      const connection = this._radio?.connection ?? 200;
      if (connection >= 500) this._transition("up");
      else if (connection <= 200) this._transition("down");
    } catch (error) {
      this._host.log("error", `Wi-Fi: ${error instanceof Error ? error.message : "unknown"}`);
    }
  }

  private _hangUp(): void {
    try {
      this._radio?.disconnect();
      this._radio?.close();
    } catch {}
    this._radio = undefined;
  }
}
