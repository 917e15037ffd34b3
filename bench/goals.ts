// The goals of Mote beside a program in C and one in JavaScript that do the same work on a chip.

import { type Cost, type Costs, LOADER, UPLOADS_A_DAY, withDerived } from "./chip/rows.js";
import { columns } from "./columns.js";
import { FIRST_WAKE, STEADY_WAKE } from "./desk.js";
import { digits } from "./digits.js";
import type { Results } from "./results.js";

type Rival = "js" | "c";

interface Goal {
  readonly what: string;
  /** Row of the chip. */
  readonly key: string;
  /** A member of Cost, or of its `more`. */
  readonly figure: string;
  /** Mote's figure may be at most `times` the rival's. */
  readonly times?: readonly [times: number, rival: Rival];
  readonly most?: number;
  readonly least?: number;
  /** Mote's check of its image is counted as if the image had the rival's size. */
  readonly imageApart?: boolean;
}

/** One goal for each of some figures. */
const each = (what: string, key: string, goals: Record<string, readonly [number, Rival]>): Goal[] =>
  Object.entries(goals).map(([figure, times]) => ({ what, key, figure, times }));

const WAKE = { packets: [1, "c"], bytes: [1, "c"], instructions: [1, "js"] } as const;

export const GOALS: readonly Goal[] = [
  ...each("steady-state wake with an upload", "wake-steady", WAKE),
  ...each("first wake after power-on", "wake", WAKE),
  ...each("battery day: a first and 23 steady wakes", "battery-day", WAKE),
  {
    what: "start to the first acknowledged point",
    key: "boot",
    figure: "instructions",
    times: [1, "js"],
    imageApart: true,
  },
  ...each("shared attribute change", "attribute", { packets: [1.2, "js"], bytes: [1.2, "js"] }),
  ...each("two-way RPC", "rpc", { packets: [1, "js"], bytes: [1, "js"] }),
  ...each("idle hour", "idle", { packets: [1, "js"], bytes: [1, "js"] }),
  ...each("KiB of firmware", "update", { instructions: [1.2, "c"] }),
  ...each("full TLS 1.2 handshake", "handshake-full", { instructions: [1.1, "c"] }),
  ...each("resumed TLS 1.2 handshake", "handshake-resumed", { instructions: [1.1, "c"] }),
  ...each("durable point, 50 per request", "durable-batch", { instructions: [1.2, "c"] }),
  { what: "image of the comparison program", key: "image", figure: "bytes", most: 900_000 },
  { what: "native heap free at rest", key: "memory", figure: "free", least: 180_000 },
  { what: "slot free beside the sample with everything", key: "slot", figure: "% free", least: 22 },
];

/** A row of the table. Undefined: not measured. */
export interface Judged {
  readonly what: string;
  readonly figure: string;
  readonly mote: number | undefined;
  readonly js: number | undefined;
  readonly c: number | undefined;
  readonly goal: string;
  /** Undefined if a figure is missing. */
  readonly missed: boolean | undefined;
  /** Mote's figure was counted on the desk: without bare acknowledgements. */
  readonly onDesk: boolean;
  /** Days on which the figures were measured, Mote's first. */
  readonly days: readonly string[];
}

const figureOf = (cost: Cost | undefined, figure: string): number | undefined =>
  (cost as Readonly<Record<string, number>> | undefined)?.[figure] ?? cost?.more?.[figure];

const NAMES = { js: "JavaScript's", c: "C's" } as const;

/** Traffic of a wake, for rows that the chip has not shown. */
function deskFigure(desk: Results["desk"], key: string, figure: string): number | undefined {
  if (figure !== "packets" && figure !== "bytes") return undefined;
  const [first, steady] = [desk[FIRST_WAKE]?.[figure], desk[STEADY_WAKE]?.[figure]];
  if (key === "wake") return first;
  if (key === "wake-steady") return steady;
  return key === "battery-day" && first && steady ? first + (UPLOADS_A_DAY - 1) * steady : undefined;
}

export function judgeGoals(measured: Costs, desk: Results["desk"] = {}): Judged[] {
  const costs = withDerived(measured);
  return GOALS.map((goal) => {
    const { what, key, figure, times, most, least, imageApart } = goal;
    const of = (program: "mote" | Rival) => figureOf(costs[program]?.[key], figure);
    const [, rival] = times ?? [];
    const [js, c] = [of("js"), of("c")];
    const onChip = imageApart ? minus(of("mote"), largerImage(costs, rival!)) : of("mote");
    const mote = onChip ?? deskFigure(desk, key, figure);
    const onDesk = onChip === undefined && mote !== undefined;
    const theirs = rival && of(rival);
    const bound = times ? theirs && times[0] * theirs : (most ?? least);
    const isBeyond = (value: number, bound: number): boolean =>
      least === undefined ? value > bound : value < bound;
    const days = (["mote", "js", "c"] as const).flatMap((program) =>
      program === "mote" && onDesk ? ["desk"] : (costs[program]?.[key]?.seen ?? []),
    );
    return {
      ...{ what, figure, mote, js, c, goal: goalText(goal), onDesk },
      missed: mote === undefined || bound === undefined ? undefined : isBeyond(mote, bound),
      days: [...new Set(days)],
    };
  });
}

function goalText({ times, most, least }: Goal): string {
  if (times) return `at most ${times[0] === 1 ? "" : `${times[0]} times `}${NAMES[times[1]]}`;
  return most === undefined ? `at least ${number(least)}` : `at most ${number(most)}`;
}

const minus = (one: number | undefined, other: number): number | undefined =>
  one === undefined ? undefined : one - other;

/** Instructions of ROM and boot loader to check the bytes by which Mote's image is larger. */
function largerImage({ mote, ...others }: Costs, rival: Rival): number {
  const [ours, theirs] = [mote, others[rival]].map((costs) => figureOf(costs?.image, "bytes"));
  const check = figureOf(mote?.boot, LOADER);
  return ours && theirs && check ? check * Math.max(0, 1 - theirs / ours) : 0;
}

const number = (value: number | undefined, figure = ""): string => {
  if (value === undefined) return "not measured";
  if (figure === "instructions" && value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  return digits(value);
};

const ratio = (mote: number | undefined, other: number | undefined): string =>
  mote === undefined || !other ? "" : (mote / other).toFixed(2);

const VERDICTS = new Map([
  [true, "MISSED"],
  [false, "ok"],
  [undefined, "unknown"],
]);

/** Cells of the table; the last column tells where the figures come from. */
export const goalCells = (goals: readonly Judged[], today?: string): string[][] => [
  ["what", "figure", "Mote", "JavaScript", "C", "/ JS", "/ C", "goal", "verdict", "measured"],
  ...goals.map(({ what, figure, mote, js, c, goal, missed, days, onDesk }) => [
    ...[what, figure, `${number(mote, figure)}${onDesk ? " (desk)" : ""}`],
    ...[number(js, figure), number(c, figure)],
    ...[ratio(mote, js), ratio(mote, c), goal],
    VERDICTS.get(missed)!,
    days.map((day) => (day === "desk" ? day : day === today ? "now" : `stored, ${day}`)).join("; "),
  ]),
];

/** One table for people; the last line lists the missed goals. */
export function goalTable(goals: readonly Judged[], today?: string): string {
  const lines = columns(goalCells(goals, today), (column) => column < 2 || column > 6);
  const named = (verdict: boolean | undefined): string =>
    goals
      .flatMap(({ what, figure, missed }) => (missed === verdict ? [`${what} (${figure})`] : []))
      .join("; ") || "none";
  return [...lines, `not measured: ${named(undefined)}`, `missed: ${named(true)}`].join("\n");
}
