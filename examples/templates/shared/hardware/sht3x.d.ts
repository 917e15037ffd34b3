// The driver of the SDK (modules/drivers/sensors/sht3x), which has no types of its own.
declare module "embedded:sensor/Humidity-Temperature/SHT3x" {
  /** The driver's use of its bus. Each method throws if no sensor answers. */
  export interface Bus {
    write(bytes: Uint8Array): void;
    read(into: Uint8Array): unknown;
    close(): void;
  }

  export interface BusOptions {
    data: number;
    clock: number;
    hz: number;
    address: number;
  }

  export type BusConstructor = new (options: BusOptions) => Bus;

  export default class SHT3x {
    /** Opens the bus, at 0x44 and 1 MHz unless `sensor` says otherwise. Takes 50 ms. */
    constructor(options: {
      sensor: { io: BusConstructor; data: number; clock: number; hz?: number; address?: number };
      onError?: (message: string) => void;
    });
    /** °C and %. A value with a wrong checksum is missing. Takes 150 ms. */
    sample(): { thermometer: { temperature?: number }; hygrometer: { humidity?: number } };
    close(): void;
  }
}
