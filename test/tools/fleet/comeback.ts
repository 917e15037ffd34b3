// The return of a fleet after an outage, by the back-off that agents have. A device is no more here
// than that back-off and a time, so that there may be 100,000.
import { WAITS_S, waitMs } from "../../../src/platform/pace.js";
import type { Host } from "../../../src/port.js";

/** The longest wait: all that is lost at once is lost again by then. */
export const LONGEST_WAIT_S = 330;

export interface Outage {
  readonly ms: number;
  /**
   * Until an attempt is lost: 0 where connections are refused; 35,000 where nothing answers.
   * Default 0.
   */
  readonly attemptMs?: number;
}

/** When each device comes back, in ms after the platform did. All lost it at the same instant. */
export function comeBack(devices: number, { ms, attemptMs = 0 }: Outage, seed: number): Float64Array {
  const host = { random: quickRandom(seed) };
  return Float64Array.from({ length: devices }, () => {
    let attempts = 0;
    const wait = (tookMs = 0) => waitMs(host, WAITS_S.unreachable, attempts++, tookMs);
    let now = wait();
    while (now < ms) now += attemptMs + wait(attemptMs);
    return now - ms;
  });
}

/** How many come back in each second. */
export function bySecond(times: Float64Array): number[] {
  const seconds: number[] = Array.from({ length: LONGEST_WAIT_S }, () => 0);
  for (const ms of times) {
    const second = Math.floor(ms / 1000);
    seconds[second] = (seconds[second] ?? 0) + 1;
  }
  return seconds;
}

/** Devices in the busiest second. */
export const busiest = (seconds: readonly number[]): number => Math.max(...seconds);

/** Four bytes a step, as millions are drawn: a step of xorshift32 after a mixed seed. */
function quickRandom(seed: number): Host["random"] {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return (into) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    for (let i = 0; i < into.length; i++) into[i] = state >>> (24 - 8 * i);
  };
}
