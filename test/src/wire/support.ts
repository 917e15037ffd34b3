import { readdirSync, readFileSync } from "node:fs";

const DIRECTORY = "test/src/wire/fixtures";

/** A document as the platform sends it. */
export const fixture = (name: string): string => readFileSync(`${DIRECTORY}/${name}.json`, "utf8");

export const allFixtures = (): string[] =>
  readdirSync(DIRECTORY).map((name) => fixture(name.replace(/\.json$/, "")));

export const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
