// The SDK's module `embedded:io/analog` on Node: a simulated value from 0 to 4,095, named `pin N`.
import { slider } from "./simulated.js";

const BITS = 12;

export default class Analog {
  readonly resolution = BITS;
  readonly read: () => number;

  constructor({ pin }: { pin: number }) {
    const most = 2 ** BITS - 1;
    this.read = slider(`pin ${pin}`, { least: 0, most, value: Math.round(most / 2) });
  }

  close(): void {}
}
