import { readdirSync, readFileSync } from "node:fs";

const DIRECTORY = "test/src/wire/fixtures";

/** A document as the platform sends it. */
export const fixture = (name: string): string => readFileSync(`${DIRECTORY}/${name}.json`, "utf8");

export const allFixtures = (): string[] =>
  readdirSync(DIRECTORY).map((name) => fixture(name.replace(/\.json$/, "")));

export const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A small generator of the same numbers for the same seed: 0 (included) to `below` (excluded), whole. */
export function numbersOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
