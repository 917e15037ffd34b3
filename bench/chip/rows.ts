// What is measured of each program, and what is promised of Mote beside the others.
import { yearsOfLife } from "./flash-log.js";
import type { ProgramName, Variant } from "./programs.js";

/** Of one piece of work. What was not counted is left out. */
export interface Cost {
  readonly instructions?: number;
  readonly packets?: number;
  /** On the wire, both ways, heads of IP and TCP included. */
  readonly bytes?: number;
  /** Programmed into flash. */
  readonly flashBytes?: number;
  /** Of flash. */
  readonly erases?: number;
  /** Others, by name. */
  readonly more?: Readonly<Record<string, number>>;
  /** The commit and the day at which it was measured. */
  readonly seen?: string;
}

/** Names in `more`. */
export const FULL = "full TLS handshakes";
export const RESUMED = "resumed TLS handshakes";
export const STILL = "instructions of the tick and the idle task, which come on top";

/** By program, by row. */
export type Costs = Partial<Record<ProgramName, Readonly<Record<string, Cost>>>>;

export type Work =
  | { readonly do: "boot" | "idle" | "rpc" | "attribute" | "memory" | "update" | "image" | "wake" }
  | {
      readonly do: "points";
      readonly everyMs: number;
      readonly batch: number;
      readonly durable: boolean;
    };

export interface ChipRow {
  /** For the command line. */
  readonly key: string;
  readonly name: string;
  readonly work: Work;
  /** Of the image: Mote's telemetry is configured, the others learn by RPC. */
  readonly variant: Variant;
}

const MEMORY: Variant = { durable: false, batchAgeMs: 1000 };
const DURABLE: Variant = { durable: true, batchAgeMs: 1000 };
/** Time enough for 50 points at 10/s. */
const BATCH_AGE_MS = 6000;
const BATCH: Variant = { durable: false, batchAgeMs: BATCH_AGE_MS };
const DURABLE_BATCH: Variant = { durable: true, batchAgeMs: BATCH_AGE_MS };
const SECURE: Variant = { ...MEMORY, secure: true };
const ASLEEP: Variant = { sleepMs: 60_000 };

const points = (everyMs: number, batch: number, durable: boolean): Work => ({
  do: "points",
  everyMs,
  batch,
  durable,
});

/** In the order in which they are measured: those of one variant follow each other. */
export const ROWS: readonly ChipRow[] = [
  { key: "boot", name: "boot to the first acknowledged point", work: { do: "boot" }, variant: MEMORY },
  { key: "idle", name: "an idle hour", work: { do: "idle" }, variant: MEMORY },
  {
    key: "point-1",
    name: "a point at 1/s, in memory",
    work: points(1000, 1, false),
    variant: MEMORY,
  },
  { key: "point-10", name: "a point at 10/s, in memory", work: points(100, 1, false), variant: MEMORY },
  { key: "rpc", name: "a two-way RPC", work: { do: "rpc" }, variant: MEMORY },
  {
    key: "attribute",
    name: "a change of a shared attribute",
    work: { do: "attribute" },
    variant: MEMORY,
  },
  { key: "memory", name: "memory", work: { do: "memory" }, variant: MEMORY },
  { key: "image", name: "image", work: { do: "image" }, variant: MEMORY },
  { key: "update", name: "a KiB of firmware", work: { do: "update" }, variant: MEMORY },
  {
    key: "batch",
    name: "a point at 10/s, in memory, 50 a POST",
    work: points(100, 50, false),
    variant: BATCH,
  },
  { key: "durable-1", name: "a point at 1/s, durable", work: points(1000, 1, true), variant: DURABLE },
  {
    key: "durable-batch",
    name: "a point at 10/s, durable, 50 a POST",
    work: points(100, 50, true),
    variant: DURABLE_BATCH,
  },
  {
    key: "tls-boot",
    name: "boot to the first acknowledged point, over TLS",
    work: { do: "boot" },
    variant: SECURE,
  },
  { key: "tls-idle", name: "an idle hour, over TLS", work: { do: "idle" }, variant: SECURE },
  { key: "tls-memory", name: "memory, over TLS", work: { do: "memory" }, variant: SECURE },
  {
    key: "wake",
    name: "a wake of a sleeping device: a point, the attributes, a look for RPCs",
    work: { do: "wake" },
    variant: ASLEEP,
  },
];

/** Rows that follow from others of the same program. */
export const DERIVED: readonly Pick<ChipRow, "key" | "name">[] = [
  { key: "handshake-full", name: "a full TLS handshake" },
  { key: "handshake-resumed", name: "a resumed TLS handshake" },
  { key: "day", name: "a day of a durable point each second, 50 a POST" },
];

/** Sectors that durable points are written to in turn: the outbox of 256 KiB, and NVS of 24 KiB. */
const SECTORS: Readonly<Record<ProgramName, number>> = { mote: 64, c: 6, js: 6 };
const POINTS_A_DAY = 86_400;

export const derivedOf = (
  program: ProgramName,
  costs: Readonly<Record<string, Cost>>,
): Record<string, Cost> => ({ ...handshakesOf(costs), ...dayOf(program, costs) });

/** Years of life by the sectors that were erased, as each sector takes its turn. */
function dayOf(program: ProgramName, costs: Readonly<Record<string, Cost>>): Record<string, Cost> {
  const { flashBytes, erases = 0 } = costs["durable-batch"] ?? {};
  if (flashBytes === undefined) return {};
  const day = { flashBytes: flashBytes * POINTS_A_DAY, erases: erases * POINTS_A_DAY };
  return { day: { ...day, more: { "years of life": yearsOfLife(day.erases, SECTORS[program]) } } };
}

/**
 * What TLS added to an idle hour, for each handshake that was resumed; and to a start, less those that were resumed in it, for each full one. Nothing where
 * an hour had full ones. The tick and the idle task are left out: on a busy machine several ticks share an interrupt.
 */
export function handshakesOf(costs: Readonly<Record<string, Cost>>): Record<string, Cost> {
  const { idle, boot, "tls-idle": secureIdle, "tls-boot": secureBoot } = costs;
  const derived: Record<string, Cost> = {};
  const resumed = countOf(secureIdle, RESUMED);
  if (idle && secureIdle && resumed > 0 && countOf(secureIdle, FULL) === 0)
    derived["handshake-resumed"] = each(
      (figure) => ((secureIdle[figure] ?? 0) - (idle[figure] ?? 0)) / resumed,
    );
  const again = derived["handshake-resumed"];
  const [full, others] = [countOf(secureBoot, FULL), countOf(secureBoot, RESUMED)];
  if (boot && secureBoot && full > 0 && (others === 0 || again))
    derived["handshake-full"] = each(
      (figure) => ((secureBoot[figure] ?? 0) - (boot[figure] ?? 0) - others * (again?.[figure] ?? 0)) / full,
    );
  return derived;
}

type Added = "instructions" | "packets" | "bytes";
const each = (of: (figure: Added) => number): Cost => ({
  instructions: of("instructions"),
  packets: of("packets"),
  bytes: of("bytes"),
});
const countOf = (cost: Cost | undefined, kind: string): number => cost?.more?.[kind] ?? 0;

/** What the figure of a row is: a member of Cost. */
export type Figure = "instructions" | "packets" | "bytes" | "flashBytes" | "erases";

/** Mote's figure is at most this share of the other's. */
export interface Goal {
  readonly figure: Figure;
  readonly rows: RegExp;
  readonly against: ProgramName;
  readonly most: number;
}

const EVERY = /./;
export const GOALS: readonly Goal[] = [
  { figure: "bytes", rows: EVERY, against: "c", most: 1 },
  { figure: "bytes", rows: EVERY, against: "js", most: 1 },
  { figure: "packets", rows: EVERY, against: "c", most: 1 },
  { figure: "packets", rows: EVERY, against: "js", most: 1 },
  { figure: "instructions", rows: EVERY, against: "js", most: 1 },
  { figure: "instructions", rows: /^durable-batch$/, against: "c", most: 3 },
  { figure: "instructions", rows: /^handshake/, against: "c", most: 1.1 },
];
/** Bytes of flash that a durable point may take. */
export const FLASH_OF_A_POINT = 60;
