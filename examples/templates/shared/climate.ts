/// <reference path="./hardware/sht3x.d.ts" />
import SHT3x, { type Bus, type BusOptions } from "embedded:sensor/Humidity-Temperature/SHT3x";
import { bus } from "hardware";

export interface Reading {
  /** °C */
  temperature: number;
  /** % */
  humidity: number;
}

/** Slow enough for long cables. */
const HZ = 100_000;

/** A Sensirion SHT30, SHT31 or SHT35 on the I2C bus, by the SDK's own driver. */
export class Climate {
  private _driver: SHT3x | undefined;
  private _opened: Bus | undefined;

  /** A reading, or a text that says what is wrong. Each call tries again, so the sensor can be plugged in later. */
  read(): Reading | string {
    try {
      this._driver ??= this._open();
      const { thermometer, hygrometer } = this._driver.sample();
      const { temperature } = thermometer;
      const { humidity } = hygrometer;
      if (temperature === undefined || humidity === undefined) return "the sensor's answer is damaged";
      return { temperature: rounded(temperature), humidity: rounded(humidity) };
    } catch {
      // The driver leaves the bus open, and its address taken.
      this._opened?.close();
      this._opened = undefined;
      this._driver = undefined;
      return `no sensor answers: an SHT3x at address 0x44, its SDA at pin ${bus.data}, its SCL at pin ${bus.clock}`;
    }
  }

  private _open(): SHT3x {
    const remember = (opened: Bus): void => {
      this._opened = opened;
    };
    class Remembered extends bus.io {
      constructor(options: BusOptions) {
        super(options);
        remember(this);
      }
    }
    return new SHT3x({ sensor: { ...bus, io: Remembered, hz: HZ } });
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10;
