// From costs to a table of all figures.
import { columns } from "../columns.js";
import { digits } from "../digits.js";
import { PROGRAMS } from "./programs.js";
import type { ChipRow, Cost, Costs } from "./rows.js";

const FIGURES = [
  ["instructions", "instructions"],
  ["packets", "packets"],
  ["bytes", "bytes on the wire"],
  ["flashBytes", "bytes of flash"],
  ["erases", "sectors erased"],
] as const;

/** The programs' figures of each row, side by side. Figures that were not measured are left out. */
export function chipTable(rows: readonly Pick<ChipRow, "key" | "name">[], costs: Costs): string {
  const lines = rows.flatMap(({ key, name }) => {
    const all = PROGRAMS.map((program) => costs[program]?.[key]);
    const line = (what: string, figure: (cost: Cost) => number | undefined): string[][] => {
      const values = all.map((cost) => cost && figure(cost));
      return values.every((value) => value === undefined) ? [] : [[`${name}: ${what}`, ...values.map(shown)]];
    };
    const more = new Set(all.flatMap((cost) => Object.keys(cost?.more ?? {})));
    return [
      ...FIGURES.flatMap(([figure, what]) => line(what, (cost) => cost[figure])),
      ...[...more].flatMap((what) => line(what, (cost) => cost.more?.[what])),
    ];
  });
  const head = ["what", "Mote", "C on ESP-IDF", "JavaScript on the SDK"];
  return columns([head, ...lines], (column) => column === 0).join("\n");
}

const shown = (value: number | undefined): string => (value === undefined ? "" : digits(value));
