// The rows there are, and what this machine lacks for some of them.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { unavailable } from "../test/xs/engine/worker.js";
import type { Need, Row } from "./row.js";

const HERE = new URL("./rows/", import.meta.url);
const FILE = /^row-(\d\d)-[\w-]+\.ts$/;

/** All rows, by number. */
export async function rows(): Promise<Row[]> {
  const files = readdirSync(fileURLToPath(HERE))
    .filter((name) => FILE.test(name))
    .sort();
  const found: Row[] = [];
  for (const file of files) {
    const { row }: { row: Row } = await import(new URL(file, HERE).href);
    if (row.id !== Number(FILE.exec(file)?.[1])) throw new Error(`${file} holds row ${row.id}`);
    found.push(row);
  }
  return found;
}

/** What is missing, for people; undefined if it is there. */
export function missing(need: Need | null | undefined): string | undefined {
  if (need === "xs") return unavailable();
  if (need === "sdk" && !process.env.MODDABLE) return "no Moddable SDK: $MODDABLE is not set";
  return undefined;
}

/** The same for a row's exact figures. */
export const missingForExact = ({ needs, exactNeeds }: Row): string | undefined =>
  missing(exactNeeds === undefined ? needs : exactNeeds);
