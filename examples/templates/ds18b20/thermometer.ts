import DS18X20 from "DS18X20";
import config from "mc/config";
import OneWire from "onewire";

/** The sensor holds this value after power-on, until its first conversion. */
const POWER_ON = 85;

/** A DS18B20 on the pin `input` of pins.json. In the simulator, the SDK simulates the bus. */
export class Thermometer {
  private readonly _pin: number;
  private _bus: OneWire | undefined;
  private _sensor: DS18X20 | undefined;

  constructor() {
    const pins = config.pins as { readonly input: number } | undefined;
    this._pin = pins?.input ?? 0;
  }

  /** Calls `done` within a second: °C, or a text that says what is wrong. The next call tries again. */
  read(done: (reading: number | string) => void): void {
    try {
      this._bus ??= new OneWire({ pin: this._pin });
      this._sensor ??= new DS18X20({ bus: this._bus });
      this._sensor.getTemperature((temperature) => {
        if (temperature !== null && temperature !== POWER_ON) return done(Math.round(temperature * 10) / 10);
        this._sensor = undefined;
        done("the sensor's answer is damaged: check its three wires");
      });
    } catch {
      this._sensor = undefined;
      done(`no DS18B20 answers on pin ${this._pin}: check its wires and the 4.7 kΩ resistor`);
    }
  }
}
