// The SDK's module `DS18X20` on Node.
import { slider } from "./simulated.js";

const read = slider("temperature", { least: -55, most: 125, value: 21 });

export default class DS18X20 {
  /** In °C. */
  getTemperature(done: (temperature: number | null) => void): void {
    setImmediate(() => done(read()));
  }
}
