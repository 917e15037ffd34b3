import Analog from "embedded:io/analog";
import config from "mc/config";

const { analog: pin } = config.pins as { readonly analog: number };
const divider = config.divider as number;

/** The driver's full scale: it measures with 12 dB of attenuation. */
const FULL_SCALE_VOLTS = 2.45;
const READINGS = 16;

/** A battery behind a voltage divider on the pin `analog` of pins.json. */
export class Battery {
  private readonly _input = new Analog({ pin });

  /** Volts at the battery: the mean of several readings, times `divider` of the manifest. */
  read(): number {
    let sum = 0;
    for (let n = 0; n < READINGS; n++) sum += this._input.read();
    const share = sum / READINGS / (2 ** this._input.resolution - 1);
    return Math.round(share * FULL_SCALE_VOLTS * divider * 100) / 100;
  }
}
