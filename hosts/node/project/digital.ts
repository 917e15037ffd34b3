// The SDK's module `embedded:io/digital` on Node: an input is a simulated button named `pin N`,
// which reads 0 while it is pressed if it has a pull-up; an output prints.
import type { Button } from "../../device/simulated.js";
import { button, lamp } from "./simulated.js";

interface Options {
  pin: number;
  mode: number;
  onReadable?: () => void;
}

const MODES = {
  Input: 0,
  InputPullUp: 1,
  InputPullDown: 2,
  InputPullUpDown: 3,
  Output: 8,
  OutputOpenDrain: 9,
};

export default class Digital {
  static readonly Input = MODES.Input;
  static readonly InputPullUp = MODES.InputPullUp;
  static readonly InputPullDown = MODES.InputPullDown;
  static readonly InputPullUpDown = MODES.InputPullUpDown;
  static readonly Output = MODES.Output;
  static readonly OutputOpenDrain = MODES.OutputOpenDrain;
  static readonly Rising = 1;
  static readonly Falling = 2;
  readonly #button: Button | undefined;
  readonly #lamp: ((on: boolean) => void) | undefined;
  readonly #pressed: 0 | 1;
  #level: 0 | 1 = 0;

  constructor({ pin, mode, onReadable }: Options) {
    const name = `pin ${pin}`;
    this.#pressed = mode === MODES.InputPullUp ? 0 : 1;
    if (mode >= MODES.Output) this.#lamp = lamp(name);
    else this.#button = button(name, onReadable);
  }

  read(): 0 | 1 {
    if (!this.#button) return this.#level;
    return this.#button.isPressed ? this.#pressed : this.#pressed === 0 ? 1 : 0;
  }

  write(level: number): void {
    const next = level ? 1 : 0;
    if (next !== this.#level) this.#lamp?.(next === 1);
    this.#level = next;
  }

  close(): void {}
}
