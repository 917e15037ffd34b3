/// <reference path="../sdk.d.ts" />
// Stands for the SDK's Wi-Fi in an image for the emulator. Like board.ts a file that the tests can't load.
import FFI from "mc/ffi";
import Timer from "timer";

interface Native {
  mote_ethernet_start(): number;
  mote_ethernet_state(): number;
}

const LOOK_MS = 250;

/** As the SDK's Wi-Fi, as far as wifi.ts uses it. Any network name will do. */
export default class Ethernet {
  readonly #native = new FFI() as unknown as Native;
  readonly #changed: () => void;
  #connection = 200;
  #look: Timer | undefined;

  constructor(options: { onChanged?: (what: string) => void }) {
    this.#changed = () => options.onChanged?.("connection");
  }

  get connection(): number {
    return this.#connection;
  }

  connect(): void {
    if (this.#native.mote_ethernet_start() !== 0) throw new Error("no Ethernet");
    this.#look ??= Timer.repeat(() => this.#see(), LOOK_MS);
  }

  disconnect(): void {
    this.#connection = 200;
  }

  close(): void {
    Timer.clear(this.#look);
    this.#look = undefined;
  }

  #see(): void {
    const state = this.#native.mote_ethernet_state();
    if (state === this.#connection) return;
    this.#connection = state;
    this.#changed();
  }
}
