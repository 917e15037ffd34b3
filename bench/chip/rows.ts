// What is measured of each program, and what follows from it.
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
  /** The day on which it was measured. */
  readonly seen?: string;
}

/** Names in `more`. */
export const STILL = "instructions of the tick and the idle task, which come on top";
export const LOADER = "instructions of ROM and boot loader";

/** The work's own instructions and those of the tick and the idle task. */
export const allInstructions = ({ instructions = 0, more }: Cost): number =>
  instructions + (more?.[STILL] ?? 0);

/** By row. */
type ProgramCosts = Readonly<Record<string, Cost>>;
export type Costs = Partial<Record<ProgramName, ProgramCosts>>;

export type Work =
  | { readonly do: "boot" | "idle" | "rpc" | "memory" | "update" | "image" | "slot" }
  /** `again`: after a sleep; "quiet": in a wake that does not connect. Default: after power-on. */
  | { readonly do: "wake"; readonly again?: "steady" | "quiet" }
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
  /** The other programs have nothing like it. */
  readonly onlyMote?: boolean;
}

const MEMORY: Variant = { durable: false, batchAgeMs: 1000 };
/** Time enough for 50 points at 10/s. */
const BATCH_AGE_MS = 6000;
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
  { key: "point-10", name: "a point at 10/s, in memory", work: points(100, 1, false), variant: MEMORY },
  { key: "rpc", name: "a two-way RPC", work: { do: "rpc" }, variant: MEMORY },
  { key: "memory", name: "memory", work: { do: "memory" }, variant: MEMORY },
  { key: "image", name: "image", work: { do: "image" }, variant: MEMORY },
  { key: "update", name: "a KiB of firmware", work: { do: "update" }, variant: MEMORY },
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
  { key: "wake", name: "the first wake after power-on", work: { do: "wake" }, variant: ASLEEP },
  {
    key: "wake-steady",
    name: "a wake with an upload, attributes and a look for RPCs",
    work: { do: "wake", again: "steady" },
    variant: ASLEEP,
  },
  {
    key: "wake-quiet",
    name: "a wake without a connection",
    work: { do: "wake", again: "quiet" },
    variant: ASLEEP,
    onlyMote: true,
  },
  {
    key: "slot",
    name: "the sample with Wi-Fi, TLS, updates and commissioning",
    work: { do: "slot" },
    variant: {},
    onlyMote: true,
  },
];

/** Rows of one image are measured in one session. */
export function byVariant(rows: readonly ChipRow[]): ChipRow[][] {
  const groups = new Map<string, ChipRow[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.variant);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

/** Sectors that durable points are written to in turn: the outbox of 256 KiB, and NVS of 24 KiB. */
const SECTORS: Readonly<Record<ProgramName, number>> = { mote: 64, c: 6, js: 6 };
const POINTS_A_DAY = 86_400;

/** All programs with what follows from their rows. */
export const withDerived = (costs: Costs): Costs =>
  Object.fromEntries(
    Object.entries(costs).map(([program, kept]) => [
      program,
      {
        ...kept,
        // Programs that keep nothing over a sleep wake as after power-on each time.
        ...(program !== "mote" && kept.wake && { "wake-steady": kept.wake, ...kept }),
        ...dayOf(program as ProgramName, kept),
      },
    ]),
  );

/** Years of life by the sectors that were erased, as each sector takes its turn. */
function dayOf(program: ProgramName, { "durable-batch": point }: ProgramCosts): Record<string, Cost> {
  if (point?.erases === undefined) return {};
  return { day: { more: { "years of life": yearsOfLife(point.erases * POINTS_A_DAY, SECTORS[program]) } } };
}
