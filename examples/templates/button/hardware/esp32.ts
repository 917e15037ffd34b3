import Digital from "embedded:io/digital";
import config from "mc/config";

const { input: pin } = config.pins as { readonly input: number };

/** A push button between the pin `input` of pins.json and GND. */
export class ButtonPin {
  private readonly _pin: Digital;

  /** `onChange` is called at each edge, also while the contact bounces. */
  constructor(onChange: () => void) {
    this._pin = new Digital({
      pin,
      mode: Digital.InputPullUp,
      edge: Digital.Rising | Digital.Falling,
      onReadable: () => onChange(),
    });
  }

  get isPressed(): boolean {
    return this._pin.read() === 0;
  }
}
