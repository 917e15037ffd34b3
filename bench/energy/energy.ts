// Joules of a day of an ESP32-C3, from counts and the vendor's currents. What was not counted is a range, and the result is one.
const VOLTS = 3.3;
const DAY_S = 86_400;
/** 160 MHz; an instruction takes 1 to 2 cycles, as flash and branches wait: not measured. */
const INSTRUCTIONS_A_SECOND: Range = [80e6, 160e6];

/** Least and most. */
export type Range = readonly [least: number, most: number];

/** mA. Of the first two: ESP-IDF's guide to low power in Wi-Fi scenarios, averages (modem sleep, DTIM 10 to 1; deep sleep). */
export const CURRENTS = {
  connected: [20.67, 21.47],
  asleep: [0.0048, 0.0048],
  /** Wi-Fi off, the processor busy: one board measured (robdobson.com, 2023), give or take a tenth. */
  busy: [24, 30],
  /** What a busy processor takes more than an idle one: the same board. */
  more: [6, 8],
  /** Radio on and awake, receiving most of the time: assumed, no source was read for it, hence so wide. */
  radio: [70, 150],
} as const satisfies Record<string, Range>;

export interface Day {
  /** Instructions. */
  readonly connected?: { readonly instructions: number };
  /** Wakes without a connection, and with one: instructions of each, and seconds of radio, with what joining takes. */
  readonly wakes?: { readonly number: number; readonly instructions: number };
  readonly uploads?: { readonly number: number; readonly radioS: Range };
}

export function joulesOfDay({ connected, wakes, uploads }: Day): Range {
  return [joules(0), joules(1)];

  function joules(end: 0 | 1): number {
    // The slowest processor is the dearest.
    const seconds = (instructions: number): number => instructions / INSTRUCTIONS_A_SECOND[1 - end]!;
    const charge = (mA: Range, s: number): number => (mA[end]! / 1000) * s;
    let coulombs = charge(connected ? CURRENTS.connected : CURRENTS.asleep, DAY_S);
    if (connected) coulombs += charge(CURRENTS.more, seconds(connected.instructions));
    if (wakes) coulombs += charge(CURRENTS.busy, wakes.number * seconds(wakes.instructions));
    if (uploads) coulombs += charge(CURRENTS.radio, uploads.number * uploads.radioS[end]!);
    return coulombs * VOLTS;
  }
}

/** On the emulated C3, from the power to its sleep, with an upload, the attributes and a look for RPCs in it (`node scripts/campaign.mjs bench-chip --row wake`): a wake without a connection takes less. */
const WAKE = 40.6e6;
/** Joining a network was not measured: 1 to 4 s. Bytes to and fro: 33 s a day of 24 uploads (row 17); TLS that goes on: 0.24 s. */
const UPLOAD_S: Range = [1 + 33 / 24, 4 + 33 / 24 + 0.24];

/** The three ways of use of docs/guides/battery.md. */
export const DAYS = {
  "always on, two connections, https, polls grown": { connected: { instructions: 24 * 3.67e9 } },
  "a sample a minute, an upload an hour": {
    wakes: { number: 1440, instructions: WAKE },
    uploads: { number: 24, radioS: UPLOAD_S },
  },
  "an alarm now and then: a look each 10 min, an upload a day and two alarms": {
    wakes: { number: 144, instructions: WAKE },
    uploads: { number: 3, radioS: UPLOAD_S },
  },
} as const satisfies Record<string, Day>;
