// What the pages of the console are made of.
import { OperatorError } from "../operator/error.js";
import type { Device } from "../operator/shapes.js";
import type { Session } from "./session.js";

/** Fills the place, its heading at once; the result takes down what goes on by itself. */
export type Page = (place: HTMLElement, session: Session) => () => void;

/** A part of a device's page: its element, and what takes it down. */
export interface Part {
  element: HTMLElement;
  end: () => void;
}

export interface Place {
  session: Session;
  device: Device;
}

/** What was read is gone meanwhile: whoever deleted it has said so. Throws every other error on. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof OperatorError) || error.status !== 404) throw error;
}

/** One reading at a time; who asks meanwhile gets one more afterwards. */
export function single(read: () => Promise<void>): () => void {
  let [reading, again] = [false, false];
  const run = async (): Promise<void> => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    try {
      await read();
    } finally {
      reading = false;
    }
    if (!again) return;
    again = false;
    await run();
  };
  return () => void run();
}
