/// <reference path="./sht3x.d.ts" />
// The same as esp32.ts, for the simulator: a sensor that answers on a bus as a real one does, and a switch that prints.
import type { Bus, BusConstructor } from "embedded:sensor/Humidity-Temperature/SHT3x";

/** Commands of the sensor that are followed by a read (its data sheet, chapter 4). */
const MEASURE = 0x2c06;
const STATUS = 0xf32d;

/** A room: a little warmer and drier, and back, within ten minutes. */
class SimulatedSensor implements Bus {
  private _command = 0;

  write(bytes: Uint8Array): void {
    this._command = ((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0);
  }

  read(into: Uint8Array): void {
    if (this._command === MEASURE) {
      const turn = Math.sin((Date.now() / 600_000) * 2 * Math.PI);
      put(into, 0, ((21 + 2 * turn + 45) * 65_535) / 175);
      put(into, 3, ((45 - 5 * turn) * 65_535) / 100);
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
  write(on: boolean): void {
    trace(`the switch is ${on ? "on" : "off"}\n`);
  }
}
