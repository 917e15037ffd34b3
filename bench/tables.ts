// The documentation's tables of measured figures, from results.json. A table stands between
// `<!-- bench: NAME -->` and `<!-- /bench -->`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../tools/project.js";
import { goalCells } from "./chip/goals.js";
import { allInstructions, type Cost, type Costs, withDerived } from "./chip/rows.js";
import { daysOf, daysOfCell, joulesOfDay, type Range } from "./energy.js";
import { digits, type Results, readResults } from "./results.js";

export const PAGES = ["docs/understand/measurements.md", "docs/guides/energy.md"] as const;

const PROGRAMS = ["mote", "c", "js"] as const;
const HEAD = ["Mote", "C", "JavaScript"];

const short = (value: number): string => digits(value, 3);

const markdown = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** A row for each key, a cell for each program. */
function byProgram(
  costs: Costs,
  names: Readonly<Record<string, string>>,
  cell: (cost: Cost) => string | undefined,
): string[][] {
  return Object.entries(names).map(([key, name]) => [
    name,
    ...PROGRAMS.map((program) => {
      const cost = costs[program]?.[key];
      return (cost && cell(cost)) ?? "not measured";
    }),
  ]);
}

const millions = (cost: Cost): string | undefined =>
  cost.instructions === undefined ? undefined : short(allInstructions(cost) / 1e6);

const wire = ({ packets, bytes }: Cost): string | undefined =>
  packets === undefined || bytes === undefined ? undefined : `${short(packets)} / ${short(bytes)}`;

const INSTRUCTIONS = {
  boot: "start to the first acknowledged point",
  "tls-boot": "the same over TLS",
  "point-10": "a point, 10 per second",
  "durable-batch": "a durable point, 50 per request",
  rpc: "a two-way RPC",
  update: "a KiB of firmware",
  wake: "the first wake after power-on",
  "wake-steady": "a wake with an upload",
  "wake-quiet": "a wake without a connection",
  idle: "an idle hour",
};
const WIRE = {
  "point-10": "a point, 10 per second",
  wake: "the first wake after power-on",
  "wake-steady": "a wake with an upload",
};

const traffic = ({ exact }: Results): string =>
  markdown([
    ["work", "packets", "bytes", "requests"],
    ...Object.entries(exact.traffic).map(([work, spent]) => [
      work,
      ...[spent.packets, spent.bytes, spent.requests].map((value) => value.toLocaleString("en-US")),
    ]),
  ]);

function chipTable(results: Results, names: Readonly<Record<string, string>>, cell: typeof wire): string {
  return markdown([["work", ...HEAD], ...byProgram(withDerived(results.chip.esp32c3 ?? {}), names, cell)]);
}

function memory(results: Results): string {
  const costs = withDerived(results.chip.esp32c3 ?? {});
  const row = (key: string, name: string, figure: string) =>
    byProgram(costs, { [key]: name }, ({ more }) =>
      more?.[figure] === undefined ? undefined : short(more[figure]),
    );
  return markdown([
    ["", ...HEAD],
    ...row("image", "image, bytes", "bytes"),
    ...row("memory", "free heap at rest over http, bytes", "free"),
    ...row("memory", "least free heap over http, bytes", "leastFree"),
    ...row("day", "flash life at one durable point per second, years", "years of life"),
  ]);
}

const range = ([least, most]: Range): string =>
  least.toPrecision(2) === most.toPrecision(2)
    ? digits(least, 2)
    : `${[least, most].map((value) => Number(value.toPrecision(2)).toLocaleString("en-US")).join(" to ")}`;

const energy = (results: Results): string =>
  markdown([
    ["use of an ESP32-C3", "joules a day", "days with 2,000 mAh"],
    ...Object.entries(daysOf(results)).map(([use, day]) => {
      if (!day) return [use, "not measured", "not measured"];
      const joules = joulesOfDay(day);
      return [use, range(joules), range(daysOfCell(joules))];
    }),
  ]);

/** All tables of one chip, for a terminal. */
export const chipTables = (costs: Costs): string =>
  (["goals", "instructions", "wire", "memory"] as const)
    .map((name) => TABLES[name]!({ ...readResults(), chip: { esp32c3: costs } }))
    .join("\n\n");

const TABLES: Readonly<Record<string, (results: Results) => string>> = {
  goals: ({ chip }) => markdown(goalCells(chip.esp32c3 ?? {})),
  traffic,
  instructions: (results) => chipTable(results, INSTRUCTIONS, millions),
  wire: (results) => chipTable(results, WIRE, wire),
  memory,
  energy,
};

const PLACE = /(<!-- bench: (\w+) -->\n)[\s\S]*?(\n<!-- \/bench -->)/g;

/** `text` with new tables. */
export const withTables = (text: string, results: Results): string =>
  text.replace(PLACE, (_, begin: string, name: string, end: string) => {
    const make = TABLES[name];
    if (!make) throw new Error(`there is no table ${name}`);
    return `${begin}\n${make(results)}\n${end}`;
  });

export function writeTables(results: Results): void {
  for (const page of PAGES) {
    const path = join(PROJECT, page);
    writeFileSync(path, withTables(readFileSync(path, "utf8"), results));
  }
}
