import type { Clock } from "../../port.js";

/** Lets other work go on. */
export const pause = (clock: Clock): Promise<void> => {
  return new Promise((resolve) => {
    clock.timer(0, resolve);
  });
};
