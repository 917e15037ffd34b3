// From costs to the table, and to what is kept of it.
import { PROGRAMS, type ProgramName } from "./programs.js";
import { type ChipRow, type Cost, type Costs, type Figure, FLASH_OF_A_POINT, GOALS } from "./rows.js";

/** An entry of chip-results.json. */
export interface Line {
  readonly row: string;
  readonly what: string;
  readonly mote: number | null;
  readonly c: number | null;
  readonly js: number | null;
  /** What is promised and not reached; empty: nothing. */
  readonly missed: readonly string[];
  /** Of each program: the commit and the day at which it was measured. */
  readonly seen: Partial<Record<ProgramName, string>>;
}

const FIGURES: readonly (readonly [Figure, string])[] = [
  ["instructions", "instructions"],
  ["packets", "packets"],
  ["bytes", "bytes on the wire"],
  ["flashBytes", "bytes of flash"],
  ["erases", "sectors erased"],
];
const NAMES: Readonly<Record<ProgramName, string>> = { mote: "Mote", c: "C", js: "JavaScript" };

/** Each row's figures beside each other. Rows that nobody measured are left out. */
export function linesOf(rows: readonly Pick<ChipRow, "key" | "name">[], costs: Costs): Line[] {
  return rows.flatMap((row) => {
    const of = (program: ProgramName): Cost | undefined => costs[program]?.[row.key];
    const seen = Object.fromEntries(
      PROGRAMS.flatMap((program) => {
        const cost = of(program);
        return cost?.seen === undefined ? [] : [[program, cost.seen]];
      }),
    );
    const line = (what: string, figure: (cost: Cost) => number | undefined, missed: readonly string[]) => {
      const [mote = null, c = null, js = null] = PROGRAMS.map((program) => {
        const cost = of(program);
        const value = cost && figure(cost);
        // A figure without an end, such as years of life, is null once it was kept.
        return value === undefined || value === null || !Number.isFinite(value) ? null : tidy(value);
      });
      return mote === null && c === null && js === null
        ? []
        : [{ row: row.key, what: `${row.name}: ${what}`, mote, c, js, missed, seen }];
    };
    const more = new Set(PROGRAMS.flatMap((program) => Object.keys(of(program)?.more ?? {})));
    return [
      ...FIGURES.flatMap(([figure, what]) =>
        line(what, (cost) => cost[figure], missedOf(row.key, figure, of)),
      ),
      ...[...more].flatMap((name) => line(name, (cost) => cost.more?.[name], [])),
    ];
  });
}

/** What Mote's figure of a row is not, beside the others. */
function missedOf(row: string, figure: Figure, of: (program: ProgramName) => Cost | undefined): string[] {
  const mote = of("mote")?.[figure];
  if (mote === undefined) return [];
  const missed = GOALS.filter((goal) => goal.figure === figure && goal.rows.test(row)).flatMap(
    ({ against, most }) => {
      const other = of(against)?.[figure];
      return other !== undefined && mote > most * other
        ? [`at most ${most === 1 ? "" : `${most} times `}that of ${NAMES[against]}`]
        : [];
    },
  );
  const isDurable = figure === "flashBytes" && /^durable/.test(row);
  return isDurable && mote > FLASH_OF_A_POINT ? [...missed, `at most ${FLASH_OF_A_POINT}`] : missed;
}

/** One table for people. */
export function chipTable(lines: readonly Line[]): string {
  const rows = [
    ["what", "Mote", "C on ESP-IDF", "JavaScript on the SDK", "missed"],
    ...lines.map(({ what, mote, c, js, missed }) => [
      what,
      shown(mote),
      shown(c),
      shown(js),
      missed.join("; "),
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 || i === 4 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Four digits, or the whole number where it has less. */
const tidy = (value: number): number =>
  Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));

const shown = (value: number | null): string => (value === null ? "" : value.toLocaleString("en-US"));
