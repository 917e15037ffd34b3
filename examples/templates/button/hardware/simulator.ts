import { button } from "mote/simulated";

/** A button of the panel, or of the keyboard. */
export class ButtonPin {
  private readonly _button: { readonly isPressed: boolean };

  constructor(onChange: () => void) {
    this._button = button("button", onChange);
  }

  get isPressed(): boolean {
    return this._button.isPressed;
  }
}
