import { lamp } from "mote/simulated";

/** A lamp shows what a relay would do. */
export class Relay {
  readonly write = lamp("relay");
}
