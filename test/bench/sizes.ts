// The table of sizes in CHANGELOG.md, one for each release: that of the newest holds what budget.json does.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../house/tree.js";
import type { Budget } from "./budget.js";

const FILE = join(root, "CHANGELOG.md");
const HEAD = "| module, in ROM | bytes of code | slots of 16 bytes | bytes of all its data |";
/** The first there is. */
const TABLE = /^\| module, in ROM \|.*\n(?:\|.*\n)+/m;
const FIGURE = /^(?<module>\S+): (?<what>code|slots|ROM)$/;

/** Of the figures of row 7. */
export function sizeTable(figures: Readonly<Record<string, number>>): string {
  const modules = new Map<string, Record<string, number>>();
  for (const [name, count] of Object.entries(figures)) {
    const { module, what } = FIGURE.exec(name)?.groups ?? {};
    if (module === undefined || what === undefined) throw new Error(`no figure of a module: ${name}`);
    modules.set(module, { ...modules.get(module), [what]: count });
  }
  const cell = (count: number | undefined): string => (count ?? 0).toLocaleString("en");
  const lines = [...modules].map(
    ([name, { code, slots, ROM }]) => `| \`${name}\` | ${cell(code)} | ${cell(slots)} | ${cell(ROM)} |`,
  );
  return [HEAD, "|---|---|---|---|", ...lines, ""].join("\n");
}

/** CHANGELOG.md's first table of sizes; undefined if there is none. */
export const writtenSizes = (): string | undefined => TABLE.exec(readFileSync(FILE, "utf8"))?.[0];

/** Writes it anew. */
export function writeSizes(budget: Budget): void {
  const figures = budget["7"];
  if (!figures) return;
  writeFileSync(
    FILE,
    readFileSync(FILE, "utf8").replace(TABLE, () => sizeTable(figures)),
  );
}
