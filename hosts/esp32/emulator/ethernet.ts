/// <reference path="../sdk.d.ts" />
// Replaces the SDK's Wi-Fi in an image for the emulator. Tests cannot load this file.
import nativeFunctions from "mote/native-functions";
import Timer from "timer";

interface Native {
  mote_ethernet_start(): number;
  mote_ethernet_state(): number;
}

const CHECK_MS = 250;

/** Like the SDK's Wi-Fi, as far as wifi.ts uses it. Accepts any network name. */
export default class Ethernet {
  private readonly _native = nativeFunctions() as Native;
  private readonly _changed: () => void;
  private _connection = 200;
  private _timer: Timer | undefined;

  constructor(options: { onChanged?: (what: string) => void }) {
    this._changed = () => options.onChanged?.("connection");
  }

  get connection(): number {
    return this._connection;
  }

  connect(): void {
    if (this._native.mote_ethernet_start() !== 0) throw new Error("no Ethernet");
    this._timer ??= Timer.repeat(() => this._check(), CHECK_MS);
  }

  disconnect(): void {
    this._connection = 200;
  }

  close(): void {
    Timer.clear(this._timer);
    this._timer = undefined;
  }

  private _check(): void {
    const state = this._native.mote_ethernet_state();
    if (state === this._connection) return;
    this._connection = state;
    this._changed();
  }
}
