// The goals of Mote on an ESP32-C3, beside a program in C and one in JavaScript that do the same
// work.
import { digits } from "../results.js";
import { type Cost, type Costs, LOADER, withDerived } from "./rows.js";

interface Goal {
  readonly what: string;
  /** Row of the chip. */
  readonly key: string;
  /** A member of Cost, or of its `more`. */
  readonly figure: string;
  /** Largest good figure, or C's. */
  readonly most?: number | "c";
  readonly least?: number;
}

const GOALS: readonly Goal[] = [
  { what: "a wake with an upload", key: "wake-steady", figure: "packets", most: "c" },
  { what: "a wake with an upload", key: "wake-steady", figure: "bytes", most: "c" },
  { what: "a wake with an upload", key: "wake-steady", figure: "instructions", most: 14e6 },
  { what: "a start, at JavaScript's image size", key: "boot", figure: "instructions", most: 17e6 },
  { what: "a KiB of firmware", key: "update", figure: "instructions", most: 450_000 },
  { what: "a two-way RPC", key: "rpc", figure: "instructions", most: 2.4e6 },
  { what: "a durable point, 50 per request", key: "durable-batch", figure: "instructions", most: 290_000 },
  { what: "image of the comparison program", key: "image", figure: "bytes", most: 1_060_000 },
  { what: "slot beside the sample with everything", key: "slot", figure: "% free", least: 20 },
];

const figureOf = (cost: Cost | undefined, figure: string): number | undefined =>
  (cost as Readonly<Record<string, number>> | undefined)?.[figure] ?? cost?.more?.[figure];

const shown = (value: number | undefined): string =>
  value === undefined ? "not measured" : value >= 1e6 ? `${digits(value / 1e6, 3)} M` : digits(value);

/**
 * ROM and boot loader check the whole image: the start counts as if Mote's had the size of
 * JavaScript's.
 */
function largerImage({ mote, js }: Costs): number {
  const [ours, theirs] = [mote, js].map((costs) => figureOf(costs?.image, "bytes"));
  const check = figureOf(mote?.boot, LOADER);
  return ours && theirs && check ? check * Math.max(0, 1 - theirs / ours) : 0;
}

/** Cells of the table, the head first. */
export function goalCells(measured: Costs): string[][] {
  const costs = withDerived(measured);
  const rows = GOALS.map(({ what, key, figure, most, least }) => {
    const of = (program: "mote" | "js" | "c") => figureOf(costs[program]?.[key], figure);
    const all = of("mote");
    const mote = all !== undefined && key === "boot" ? all - largerImage(costs) : all;
    const bound = most === "c" ? of("c") : (most ?? least);
    const isMissed =
      mote !== undefined && bound !== undefined && (least === undefined ? mote > bound : mote < bound);
    const goal = most === "c" ? "at most C's" : `at ${most === undefined ? "least" : "most"} ${shown(bound)}`;
    const verdict = mote === undefined || bound === undefined ? "unknown" : isMissed ? "MISSED" : "ok";
    return [what, figure, shown(mote), shown(of("js")), shown(of("c")), goal, verdict];
  });
  return [["work", "figure", "Mote", "JavaScript", "C", "goal", "verdict"], ...rows];
}
