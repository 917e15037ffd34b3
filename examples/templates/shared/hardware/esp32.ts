/// <reference path="./sht3x.d.ts" />
// The pins of a board, as pins.json names them.
import Digital from "embedded:io/digital";
import I2C from "embedded:io/i2c";
import type { BusConstructor } from "embedded:sensor/Humidity-Temperature/SHT3x";
import config from "mc/config";

interface Pins {
  /** SDA and SCL of the I2C bus. */
  readonly data: number;
  readonly clock: number;
  readonly switch: number;
}

const { data, clock, switch: pin } = config.pins as Pins;

export const bus = { io: I2C as unknown as BusConstructor, data, clock };

/** An output: a lamp, a relay or the board's LED. */
export class Switch {
  private readonly _pin = new Digital({ pin, mode: Digital.Output });

  constructor() {
    this.write(false);
  }

  write(on: boolean): void {
    this._pin.write(on ? 1 : 0);
  }
}
