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
export const FULL = "full TLS handshakes";
export const RESUMED = "resumed TLS handshakes";
export const STILL = "instructions of the tick and the idle task, which come on top";
export const LOADER = "instructions of ROM and boot loader";

/** The work's own instructions and those of the tick and the idle task. */
export const allInstructions = ({ instructions = 0, more }: Cost): number =>
  instructions + (more?.[STILL] ?? 0);

/** By row. */
export type ProgramCosts = Readonly<Record<string, Cost>>;
/**
 * By program. `mqtt` is thingsboard-client-sdk: it was measured once, and its program is not in
 * this repository.
 */
export type Costs = Partial<Record<ProgramName | "mqtt", ProgramCosts>>;

export type Work =
  | { readonly do: "boot" | "idle" | "rpc" | "attribute" | "memory" | "update" | "image" | "slot" }
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

/** Rows that follow from others of the same program. */
export const DERIVED: readonly Pick<ChipRow, "key" | "name">[] = [
  { key: "handshake-full", name: "a full TLS handshake" },
  { key: "handshake-resumed", name: "a resumed TLS handshake" },
  { key: "day", name: "a day of a durable point each second, 50 a POST" },
  { key: "battery-day", name: "a day of a battery device: a first and 23 steady wakes" },
];

/** Sectors that durable points are written to in turn: the outbox of 256 KiB, and NVS of 24 KiB. */
const SECTORS: Readonly<Record<ProgramName, number>> = { mote: 64, c: 6, js: 6 };
const POINTS_A_DAY = 86_400;

const derivedOf = (program: ProgramName | "mqtt", costs: ProgramCosts): Record<string, Cost> => ({
  ...handshakesOf(costs),
  ...(program !== "mqtt" && dayOf(program, costs)),
  ...wakesOf(program, costs),
});

/** All programs with their derived rows. */
export const withDerived = (costs: Costs): Costs =>
  Object.fromEntries(
    Object.entries(costs).map(([program, kept]) => [
      program,
      { ...kept, ...derivedOf(program as ProgramName, kept) },
    ]),
  );

export const UPLOADS_A_DAY = 24;

/** Programs that keep nothing over a sleep wake as after power-on each time. */
function wakesOf(program: string, { wake, "wake-steady": known }: ProgramCosts): Record<string, Cost> {
  const steady = known ?? (program === "mote" ? undefined : wake);
  if (!wake || !steady) return {};
  const day = (["instructions", "packets", "bytes"] as const).flatMap((figure) => {
    const [first, again] = [wake[figure], steady[figure]];
    return first === undefined || again === undefined ? [] : [[figure, first + (UPLOADS_A_DAY - 1) * again]];
  });
  const seen = wake.seen !== undefined && { seen: wake.seen };
  return { "wake-steady": steady, "battery-day": { ...Object.fromEntries(day), ...seen } };
}

/** Years of life by the sectors that were erased, as each sector takes its turn. */
function dayOf(program: ProgramName, costs: ProgramCosts): Record<string, Cost> {
  const { flashBytes, erases = 0 } = costs["durable-batch"] ?? {};
  if (flashBytes === undefined) return {};
  const day = { flashBytes: flashBytes * POINTS_A_DAY, erases: erases * POINTS_A_DAY };
  return { day: { ...day, more: { "years of life": yearsOfLife(day.erases, SECTORS[program]) } } };
}

/**
 * What TLS added to an idle hour, for each handshake that was resumed; and to a start, less those that were resumed in it, for each full one. Nothing where
 * an hour had full ones. The tick and the idle task are left out: on a busy machine several ticks share an interrupt.
 */
export function handshakesOf(costs: ProgramCosts): Record<string, Cost> {
  const { idle, boot, "tls-idle": secureIdle, "tls-boot": secureBoot } = costs;
  const derived: Record<string, Cost> = {};
  const resumed = countOf(secureIdle, RESUMED);
  if (idle && secureIdle && resumed > 0 && countOf(secureIdle, FULL) === 0) {
    const more = each((figure) => ((secureIdle[figure] ?? 0) - (idle[figure] ?? 0)) / resumed, secureIdle);
    if (more.instructions! > 0) derived["handshake-resumed"] = more;
  }
  const again = derived["handshake-resumed"];
  const [full, others] = [countOf(secureBoot, FULL), countOf(secureBoot, RESUMED)];
  if (boot && secureBoot && full > 0 && (others === 0 || again))
    derived["handshake-full"] = each(
      (figure) => ((secureBoot[figure] ?? 0) - (boot[figure] ?? 0) - others * (again?.[figure] ?? 0)) / full,
      secureBoot,
    );
  return derived;
}

type Added = "instructions" | "packets" | "bytes";
const each = (of: (figure: Added) => number, { seen }: Cost): Cost => ({
  instructions: of("instructions"),
  packets: of("packets"),
  bytes: of("bytes"),
  ...(seen !== undefined && { seen }),
});
const countOf = (cost: Cost | undefined, kind: string): number => cost?.more?.[kind] ?? 0;
