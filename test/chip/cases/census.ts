// Who holds the engine's memory at rest: one image for each part, and parts that a program adds
// while it runs.
import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check, type Figures } from "../case.js";
import type { Settings } from "../rig.js";

/** Each one has what the one before has. */
const IMAGES: readonly (readonly [what: string, more: Record<string, unknown>])[] = [
  ["engine and SDK", { census: "engine" }],
  ["agent", { census: "agent", firmware: undefined }],
  ["firmware", { census: "agent" }],
  ["setup", { census: "setup" }],
];
/** What the application of the last image adds, in this order (station-app/main.js). */
const ADDED = ["a handler", "an attribute", "two values a second"];
/** Half a minute for each, and a start. */
const MS = 180_000;
const LINE = /^census: (\d+) (\d+)/;

/**
 * Bytes in use with each part: the least of three looks, because of garbage and requests in
 * progress.
 */
async function count(more: Record<string, unknown>, parts: number): Promise<number[]> {
  const settings: Settings = { program: "station-app", more: { connections: 3, ...more } };
  await using bench = await Bench.open("census", settings, "soft");
  bench.board.on();
  const used: number[] = [];
  await bench.until(ONLINE_MS + MS, "the census", () => {
    for (const line of bench.board.lines) {
      const [, part, bytes] = LINE.exec(line) ?? [];
      if (part !== undefined) used[Number(part)] = Math.min(used[Number(part)] ?? Infinity, Number(bytes));
    }
    return used.length > parts;
  });
  return used.slice(0, parts);
}

export const CENSUS: Case = {
  name: "census",
  title: "who holds the engine's memory at rest",
  async run({ say }) {
    const figures: Record<string, number> = {};
    let before = 0;
    const add = (what: string, used: number): void => {
      figures[what] = used - before;
      before = used;
      say(`${what.padEnd(24)} ${String(figures[what]).padStart(6)} of ${used}`);
    };
    for (const [what, more] of IMAGES) {
      const isLast = more.census === "setup";
      // The first half minute has the start and the first requests.
      const used = await count(more, isLast ? 1 + ADDED.length : 1);
      add(what, used[0]!);
      if (isLast) for (const [i, part] of ADDED.entries()) add(part, used[i + 1]!);
    }
    check(before > 0, "nothing was counted");
    return figures satisfies Figures;
  },
};
