// The driver of the SDK (modules/drivers/sensors/sht3x), which has no types of its own.
declare module "embedded:sensor/Humidity-Temperature/SHT3x" {
  /** What the driver does with its bus. Each throws if no sensor answers. */
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
    /** °C and %; what came with a wrong checksum is left out. Takes 150 ms. */
    sample(): { thermometer: { temperature?: number }; hygrometer: { humidity?: number } };
    close(): void;
  }
}
