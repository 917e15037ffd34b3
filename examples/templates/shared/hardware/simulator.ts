/// <reference path="./sht3x.d.ts" />
// The same as esp32.ts, for the simulator: a sensor that answers on a bus as a real one does, and a
// lamp for the switch.
import type { Bus, BusConstructor } from "embedded:sensor/Humidity-Temperature/SHT3x";
import { lamp, slider } from "mote/simulated";

/** Commands of the sensor that are followed by a read (its data sheet, chapter 4). */
const MEASURE = 0x2c06;
const STATUS = 0xf32d;

const temperature = slider("temperature", { least: -20, most: 60, value: 21 });
const humidity = slider("humidity", { least: 0, most: 100, value: 45 });

/** A room as the sliders say: a little warmer and drier, and back, within ten minutes. */
class SimulatedSensor implements Bus {
  private _command = 0;

  write(bytes: Uint8Array): void {
    this._command = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  }

  read(into: Uint8Array): void {
    if (this._command === MEASURE) {
      const turn = Math.sin((Date.now() / 600_000) * 2 * Math.PI);
      put(into, 0, ((temperature() + turn / 2 + 45) * 65_535) / 175);
      put(into, 3, (Math.min(100, Math.max(0, humidity() - turn)) * 65_535) / 100);
    } else if (this._command === STATUS) put(into, 0, 0);
  }

  close(): void {}
}

/** Two bytes and their checksum. */
function put(into: Uint8Array, at: number, value: number): void {
  const word = Math.round(value);
  into[at] = word >> 8;
  into[at + 1] = word & 0xff;
  into[at + 2] = checksum(word >> 8, word & 0xff);
}

function checksum(...bytes: number[]): number {
  let crc = 0xff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x31) & 0xff : crc << 1;
  }
  return crc;
}

export const bus = { io: SimulatedSensor as BusConstructor, data: 0, clock: 0 };

export class Switch {
  readonly write = lamp("switch");
}
