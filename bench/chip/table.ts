// From costs to a table of all figures.
import { PROGRAMS, type ProgramName } from "./programs.js";
import type { ChipRow, Cost, Costs, Figure } from "./rows.js";

export interface Line {
  readonly what: string;
  readonly mote: number | null;
  readonly c: number | null;
  readonly js: number | null;
}

const FIGURES: readonly (readonly [Figure, string])[] = [
  ["instructions", "instructions"],
  ["packets", "packets"],
  ["bytes", "bytes on the wire"],
  ["flashBytes", "bytes of flash"],
  ["erases", "sectors erased"],
];

/** Each row's figures beside each other. Rows that nobody measured are left out. */
export function linesOf(rows: readonly Pick<ChipRow, "key" | "name">[], costs: Costs): Line[] {
  return rows.flatMap((row) => {
    const of = (program: ProgramName): Cost | undefined => costs[program]?.[row.key];
    const line = (what: string, figure: (cost: Cost) => number | undefined) => {
      const [mote = null, c = null, js = null] = PROGRAMS.map((program) => {
        const cost = of(program);
        const value = cost && figure(cost);
        // A figure without an end, such as years of life, is null once it was kept.
        return value === undefined || value === null || !Number.isFinite(value) ? null : tidy(value);
      });
      return mote === null && c === null && js === null
        ? []
        : [{ what: `${row.name}: ${what}`, mote, c, js }];
    };
    const more = new Set(PROGRAMS.flatMap((program) => Object.keys(of(program)?.more ?? {})));
    return [
      ...FIGURES.flatMap(([figure, what]) => line(what, (cost) => cost[figure])),
      ...[...more].flatMap((name) => line(name, (cost) => cost.more?.[name])),
    ];
  });
}

/** One table for people. */
export function chipTable(lines: readonly Line[]): string {
  const rows = [
    ["what", "Mote", "C on ESP-IDF", "JavaScript on the SDK"],
    ...lines.map(({ what, mote, c, js }) => [what, shown(mote), shown(c), shown(js)]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Four digits, or the whole number where it has less. */
const tidy = (value: number): number =>
  Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));

const shown = (value: number | null): string => (value === null ? "" : value.toLocaleString("en-US"));
