// `mote/simulated`: what a project's simulated hardware reads and writes. On Node it is a file
// (hosts/node/project/simulated.ts), in the simulator the panel beside the program's window.

/** Limits and initial value of a simulated sensor. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly value: number;
}

export interface Button {
  readonly isPressed: boolean;
}
