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
 * Joins the network and rejoins it after a loss, which the SDK does not do: after 1 s, doubling up
 * to a minute, with a random half. With a second network they take turns: the other one is next
 * after a failed join, or if the current one leads nowhere. A lost network is tried first.
 */
export class Wifi {
  private readonly _make: MakeRadio;
  private _network: Network;
  private readonly _host: Pick<Host, "clock" | "random" | "log">;
  private readonly _dice = new Uint8Array(1);
  private _state: State = "off";
  private _radio: Radio | undefined;
  private _delayMs = FIRST_MS;
  /** It is the second network's turn. */
  private _isSecond = false;
  private _cancel: () => void = () => {};
  /** The board left the network on purpose, and no join failed since. */
  private _own = false;
  private readonly _onOnline: (returned: boolean) => void;

  /**
   * `onOnline`: called at each new address. `returned`: the network was lost and is back, as opposed
   * to left on purpose.
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

  /** Used the next time the first network is unavailable. */
  setSecond(second: AccessPoint | undefined): void {
    this._network = { ...this._network, second };
  }

  /**
   * The network leads nowhere: the driver does not report an expired address. Does nothing unless
   * online.
   */
  rejoin(): void {
    if (!this.online) return;
    this._takeTurns();
    this._transition("late");
    this._own = true;
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
    this._host.log("info", this._isSecond ? "Wi-Fi: online, by the second network" : "Wi-Fi: online");
    const returned = !this._own;
    this._own = false;
    this._onOnline(returned);
  }

  private _wait(why: Trigger): void {
    const delay = this._delayMs;
    this._own = false;
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
