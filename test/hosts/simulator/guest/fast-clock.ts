// The simulator's clock, faster than the machine's: takes the place of hosts/moddable/clock.ts in a program of the tests.
import { XsClock as MachineClock } from "../../../../hosts/moddable/clock.js";

/** Put in by who builds it: how much faster, and since when (ms since 1970). */
declare const SPEED: number;
declare const SINCE: number;

export class XsClock extends MachineClock {
  override now(): number {
    return super.now() * SPEED;
  }

  override wall(): number | undefined {
    const wall = super.wall();
    return wall === undefined ? undefined : SINCE + (wall - SINCE) * SPEED;
  }

  override timer(ms: number, due: () => void): () => void {
    return super.timer(ms / SPEED, due);
  }
}
