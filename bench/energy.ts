// Joules of a day of an ESP32-C3, and days of a cell, from counts and the data sheet's currents.
// docs/guides/energy.md explains each figure. Ranges carry what was not measured.
import { allInstructions, type Cost, withDerived } from "./chip/rows.js";
import type { Results } from "./results.js";
import { STEADY_WAKE } from "./traffic.js";

const VOLTS = 3.3;
const DAY_S = 86_400;
const HOURS = 24;

/** Least and most. */
export type Range = readonly [least: number, most: number];

/**
 * mA, from the ESP32-C3 Series Datasheet v2.4, tables 5-7 to 5-9. `connected` is from ESP-IDF's
 * guide, for DTIM 10 to 1.
 */
const CURRENTS = {
  asleep: [0.005, 0.005],
  running: [23, 28],
  /** What a running processor takes more than an idle one. */
  more: [7, 7],
  connected: [20.67, 21.47],
  receiving: [84, 87],
  /** What sending takes more than receiving. */
  sending: [276 - 84, 335 - 87],
} as const satisfies Record<string, Range>;

/** 160 MHz; an instruction takes 1 to 2 cycles, as flash and branches wait. Assumed. */
const INSTRUCTIONS_A_SECOND: Range = [160e6, 80e6];
/** Bits a second on the air. Assumed. */
const BIT_RATE: Range = [54e6, 1e6];
/** Seconds. Assumed. */
const JOIN_S: Range = [1, 4];
/** Seconds that the radio stays awake for a request while connected. Assumed. */
const AWAKE_S: Range = [0.05, 0.2];
const CELL_MAH = 2000;
/** Assumed: the share of a cell that can be used, and what it loses of itself in a day. */
const USABLE: Range = [1, 0.8];
const SELF_DISCHARGE: Range = [0.01 / 30, 0.03 / 30];

export interface Day {
  /** Always connected: instructions, requests and bytes. */
  readonly connected?: { readonly instructions: number; readonly requests: number; readonly bytes: number };
  /** All wakes, with instructions of each. */
  readonly wakes?: readonly { readonly number: number; readonly instructions: number }[];
  /** Wakes that connect; seconds of network use beside joining, and bytes of each. */
  readonly uploads?: { readonly number: number; readonly networkS: number; readonly bytes: number };
}

export function joulesOfDay({ connected, wakes = [], uploads }: Day): Range {
  return [joules(0), joules(1)];

  function joules(end: 0 | 1): number {
    const charge = (mA: Range, s: number): number => (mA[end] / 1000) * s;
    const runs = (instructions: number): number => instructions / INSTRUCTIONS_A_SECOND[end];
    const onAir = (bytes: number): number => (8 * bytes) / BIT_RATE[end];
    let coulombs = charge(connected ? CURRENTS.connected : CURRENTS.asleep, DAY_S);
    for (const { number, instructions } of wakes)
      coulombs += charge(CURRENTS.running, number * runs(instructions));
    if (connected) {
      coulombs += charge(CURRENTS.more, runs(connected.instructions));
      coulombs += charge(CURRENTS.receiving, connected.requests * AWAKE_S[end]);
      coulombs += charge(CURRENTS.sending, onAir(connected.bytes));
    }
    if (uploads) {
      const { number, networkS, bytes } = uploads;
      coulombs += charge(CURRENTS.receiving, number * (JOIN_S[end] + networkS));
      coulombs += charge(CURRENTS.sending, number * onAir(bytes));
    }
    return coulombs * VOLTS;
  }
}

/** A linear regulator passes the current on, so the cell gives the same charge. */
export function daysOfCell([least, most]: Range): Range {
  const days = (joules: number, end: 0 | 1): number =>
    (CELL_MAH * USABLE[end]) / (joules / VOLTS / 3.6 + CELL_MAH * SELF_DISCHARGE[end]);
  return [days(most, 1), days(least, 0)];
}

/** The three uses of docs/guides/energy.md; undefined if a figure was not measured. */
export function daysOf({ chip, exact }: Results): Record<string, Day | undefined> {
  const costs = withDerived(chip.esp32c3 ?? {}).mote ?? {};
  const of = (key: string): Cost => costs[key] ?? {};
  const first = of("wake").instructions ?? 0;
  const steady = of("wake-steady").instructions ?? first;
  const quiet = of("wake-quiet").instructions ?? steady;
  const bytes = exact.traffic[STEADY_WAKE]!.bytes;
  const hour = exact.traffic["an idle hour, polls cut at 30 s"]!;
  const idle = costs["tls-idle"];
  // Of each upload.
  const networkS = exact["battery day"]["radio ms"]! / 1000 / HOURS;
  const wakes = (number: number, uploads: number): Day => ({
    wakes: [
      { number: number - uploads, instructions: quiet },
      { number: uploads, instructions: steady },
    ],
    uploads: { number: uploads, networkS, bytes },
  });
  return {
    "always on over https": idle && {
      connected: {
        instructions: HOURS * allInstructions(idle),
        requests: HOURS * hour.requests,
        bytes: HOURS * hour.bytes,
      },
    },
    "a sample a minute, an upload an hour": wakes(24 * 60, 24),
    "alarms: a look each 10 min, an upload a day, two alarms": wakes(24 * 6, 3),
  };
}
