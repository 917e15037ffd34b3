// The SDK's driver of the SHT3x on Node, for the simulated sensor of a project: the bus answers.

interface Bus {
  write(bytes: Uint8Array): void;
  read(into: Uint8Array): unknown;
  close(): void;
}
type BusOptions = { io: new (options: object) => Bus; address?: number };

/** One measurement, with the highest repeatability. */
const MEASURE = Uint8Array.of(0x2c, 0x06);

export default class SHT3x {
  readonly #bus: Bus;

  constructor({ sensor }: { sensor: BusOptions }) {
    this.#bus = new sensor.io({ address: 0x44, ...sensor });
  }

  /** °C and %. */
  sample(): { thermometer: { temperature: number }; hygrometer: { humidity: number } } {
    const answer = new Uint8Array(6);
    this.#bus.write(MEASURE);
    this.#bus.read(answer);
    const words = new DataView(answer.buffer);
    return {
      thermometer: { temperature: (words.getUint16(0) * 175) / 65_535 - 45 },
      hygrometer: { humidity: (words.getUint16(3) * 100) / 65_535 },
    };
  }

  close(): void {
    this.#bus.close();
  }
}
