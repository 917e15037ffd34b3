import Timer from "timer";

const PRESS_EVERY_MS = 5000;
const HOLD_MS = 400;

/** A button that is pressed every five seconds. */
export class ButtonPin {
  isPressed = false;

  constructor(onChange: () => void) {
    const change = (isPressed: boolean): void => {
      this.isPressed = isPressed;
      onChange();
    };
    Timer.repeat(() => {
      change(true);
      Timer.set(() => change(false), HOLD_MS);
    }, PRESS_EVERY_MS);
  }
}
