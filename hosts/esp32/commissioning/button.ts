import type { Clock } from "../../../src/port.js";

/** Debounce time. */
const CHECK_MS = 50;

export interface Pin {
  /** 0 while the button is pressed: it pulls the pin to ground. */
  read(): number;
}

/**
 * Calls `held` once the button was pressed for `ms` without a break, and again only after a
 * release. A button that is pressed at the beginning must be released first. Returns a stop
 * function.
 */
export const whenHeld = (pin: Pin, clock: Clock, ms: number, held: () => void): (() => void) => {
  let pressedFor = Number.POSITIVE_INFINITY;
  let cancel = (): void => {};
  const check = (): void => {
    const before = pressedFor;
    pressedFor = pin.read() === 0 ? before + CHECK_MS : 0;
    cancel = clock.timer(CHECK_MS, check);
    if (before < ms && pressedFor >= ms) held();
  };
  cancel = clock.timer(CHECK_MS, check);
  return () => cancel();
};

/** Calls `done`, later, with whether the button is pressed now and stays pressed for `ms`. */
export const isHeld = (pin: Pin, clock: Clock, ms: number, done: (held: boolean) => void): void => {
  const began = clock.now();
  const check = (): void => {
    if (pin.read() !== 0) done(false);
    else if (clock.now() - began >= ms) done(true);
    else clock.timer(CHECK_MS, check);
  };
  clock.timer(CHECK_MS, check);
};
