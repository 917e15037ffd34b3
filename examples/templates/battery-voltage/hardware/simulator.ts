import { slider } from "mote/simulated";

/** A cell of 4.1 V. */
export class Battery {
  readonly read = slider("batteryVolts", { least: 2.5, most: 4.3, value: 4.1 });
}
