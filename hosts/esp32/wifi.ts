import type { Host } from "../../src/port.js";

/** What is used of the SDK's Wi-Fi. */
export interface Radio {
  /** Throws while a connection is being made, and if the driver refuses. */
  connect(options: { SSID: string; password?: string }): void;
  disconnect(): void;
  close(): void;
  /** 200 off, 300 connecting, 400 associated, 500 has an address. */
  readonly connection: number;
}

export type MakeRadio = (changed: () => void) => Radio;

export interface Network {
  readonly ssid: string;
  readonly password?: string | undefined;
}

type State = "off" | "joining" | "online" | "waiting";
type Happening = "start" | "up" | "down" | "late" | "due" | "stop";

/** The state that follows; what is not named changes nothing. */
const NEXT: { readonly [S in State]: { readonly [H in Happening]?: State } } = {
  off: { start: "joining" },
  joining: { up: "online", down: "waiting", late: "waiting", stop: "off" },
  online: { down: "waiting", late: "waiting", stop: "off" },
  waiting: { due: "joining", up: "online", stop: "off" },
} as const;

/** From joining to an address; some access points never answer. */
const JOIN_MS = 30_000;
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** Joins the network and joins it again, as the SDK does not: after 1 s, doubled up to a minute, half of it by chance. */
export class Wifi {
  readonly #make: MakeRadio;
  readonly #network: Network;
  readonly #host: Pick<Host, "clock" | "random" | "log">;
  readonly #dice = new Uint8Array(1);
  #state: State = "off";
  #radio: Radio | undefined;
  #delayMs = FIRST_MS;
  #cancel: () => void = () => {};
  /** Called each time there is an address. */
  onOnline: () => void = () => {};

  constructor(make: MakeRadio, network: Network, host: Pick<Host, "clock" | "random" | "log">) {
    this.#make = make;
    this.#network = network;
    this.#host = host;
  }

  get online(): boolean {
    return this.#state === "online";
  }

  start(): void {
    this.#happens("start");
  }

  stop(): void {
    this.#happens("stop");
  }

  /** The network is joined and leads nowhere: an address that ran out is not told by the driver. Does nothing unless online. */
  rejoin(): void {
    if (this.online) this.#happens("late");
  }

  #happens(what: Happening): void {
    const next = NEXT[this.#state][what];
    if (next === undefined) return;
    this.#state = next;
    this.#cancel();
    this.#cancel = () => {};
    if (next === "joining") this.#join();
    else if (next === "waiting") this.#wait(what);
    else if (next === "online") this.#arrived();
    else this.#hangUp();
  }

  #join(): void {
    this.#later(JOIN_MS, "late");
    try {
      this.#radio ??= this.#make(() => this.#changed());
      const { ssid, password } = this.#network;
      if (this.#radio.connection >= 500) this.#happens("up");
      else this.#radio.connect({ SSID: ssid, ...(password ? { password } : {}) });
    } catch {
      this.#happens("down");
    }
  }

  #arrived(): void {
    this.#delayMs = FIRST_MS;
    this.#host.log("info", "Wi-Fi: online");
    this.onOnline();
  }

  #wait(why: Happening): void {
    const delay = this.#delayMs;
    this.#delayMs = Math.min(LONGEST_MS, delay * 2);
    this.#host.random(this.#dice);
    const ms = Math.round(delay * (0.5 + (this.#dice[0] as number) / 512));
    // A radio that did not answer may never do so: the next attempt has a new one.
    if (why === "late") this.#hangUp();
    this.#host.log("warn", `Wi-Fi: ${why === "late" ? "no answer" : "not connected"}, again in ${ms} ms`);
    this.#later(ms, "due");
  }

  #later(ms: number, what: Happening): void {
    this.#cancel = this.#host.clock.timer(ms, () => this.#happens(what));
  }

  /** Called by the SDK: an exception would restart the board. */
  #changed(): void {
    try {
      const connection = this.#radio?.connection ?? 200;
      if (connection >= 500) this.#happens("up");
      else if (connection <= 200) this.#happens("down");
    } catch (error) {
      this.#host.log("error", `Wi-Fi: ${error instanceof Error ? error.message : "unknown"}`);
    }
  }

  #hangUp(): void {
    try {
      this.#radio?.disconnect();
      this.#radio?.close();
    } catch {}
    this.#radio = undefined;
  }
}
