// The building blocks of pages.
import { OperatorError } from "../operator/error.js";
import type { Device } from "../operator/shapes.js";
import type { Session } from "./session.js";

/** Fills the place, starting with its heading. The result stops timers and listeners. */
export type Page = (place: HTMLElement, session: Session) => () => void;

/** A part of a device's page. `end` stops its timers and listeners. */
export interface Part {
  element: HTMLElement;
  end: () => void;
}

export interface Place {
  session: Session;
  device: Device;
}

/** Calls all of them. */
export const endAll =
  (...ends: readonly (() => unknown)[]): (() => void) =>
  () => {
    for (const end of ends) end();
  };

/** Ignores 404, as the device was deleted meanwhile. Throws every other error. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof OperatorError) || error.status !== 404) throw error;
}

/** Runs one read at a time. Calls during a read cause one more afterwards. */
export function coalesce(read: () => Promise<void>): () => void {
  let [reading, queued] = [false, false];
  const run = async (): Promise<void> => {
    if (reading) {
      queued = true;
      return;
    }
    reading = true;
    try {
      await read();
    } finally {
      reading = false;
    }
    if (!queued) return;
    queued = false;
    await run();
  };
  return () => void run();
}
