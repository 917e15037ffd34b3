// The SDK's driver (modules/drivers/onewire), as far as thermometer.ts uses it.
declare module "onewire" {
  export default class OneWire {
    /** Throws if the pin cannot be used. */
    constructor(options: { pin: number });
    /** ROM codes of the devices on the bus. */
    search(): ArrayBuffer[];
  }
}

declare module "DS18X20" {
  import type OneWire from "onewire";
  export default class DS18X20 {
    /** The first device on the bus, unless `id` names one. Throws if there is none. */
    constructor(options: { bus: OneWire; id?: ArrayBuffer });
    /** Starts a conversion, and calls back after it: °C, or null if the checksum was wrong. */
    getTemperature(done: (temperature: number | null) => void): void;
  }
}
