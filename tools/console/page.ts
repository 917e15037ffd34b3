// What the pages of the console are made of.
import type { Device } from "../operator/shapes.js";
import type { Session } from "./session.js";

/** Fills the place; the result takes down what goes on by itself. */
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
