import Digital from "embedded:io/digital";
import config from "mc/config";

const { switch: pin } = config.pins as { readonly switch: number };

/** A relay module on the pin `switch` of pins.json. It is off until `write(true)`. */
export class Relay {
  private readonly _pin = new Digital({ pin, mode: Digital.Output });

  constructor() {
    this.write(false);
  }

  /** For a module that switches on at a low level, exchange 1 and 0. */
  write(on: boolean): void {
    this._pin.write(on ? 1 : 0);
  }
}
