// `node scripts/campaign.mjs chip`: the board's promises on an emulated chip. What was passed is
// kept, and not run again unless something changed.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { findSdk, SdkError } from "../../tools/moddable/sdk.js";
import { PROJECT } from "../../tools/project.js";
import type { Case, Figures } from "./case.js";
import { BAD_IMAGES } from "./cases/bad-images.js";
import { CENSUS } from "./cases/census.js";
import { IMPROV } from "./cases/commissioning.js";
import { CRASH, RECOVERY } from "./cases/crashes.js";
import { ENCRYPTED } from "./cases/encrypted.js";
import { FACTORY } from "./cases/factory.js";
import { CABLE_FLASH } from "./cases/flash.js";
import { HOSTILE, HOSTILE_TLS } from "./cases/hostile.js";
import { LARGE_RECORDS } from "./cases/large-records.js";
import { LOG } from "./cases/log.js";
import { MEMORY, MEMORY_TLS, NO_MEMORY } from "./cases/memory.js";
import { OUTAGE, QUICK_STARTS } from "./cases/network.js";
import { DAMAGED_NVS, NVS_POWER_LOSS } from "./cases/nvs.js";
import { PORT_PROMISES, PORT_PROMISES_TLS } from "./cases/port.js";
import { TELEMETRY_POWER_LOSS, UPDATE_POWER_LOSS } from "./cases/power-losses.js";
import { STATION, STATION_FULL, STATION_TLS } from "./cases/station.js";
import { TLS } from "./cases/tls.js";
import { TOUR, TOUR_TLS } from "./cases/tour.js";
import { CHIP, CHIP_NAMES, keptAt } from "./chip.js";
import { findEmulator } from "./emulator.js";
import { sideBySide } from "./side-by-side.js";

const CASES: readonly Case[] = [
  PORT_PROMISES,
  PORT_PROMISES_TLS,
  TLS,
  IMPROV,
  CABLE_FLASH,
  FACTORY,
  TOUR,
  TOUR_TLS,
  MEMORY,
  MEMORY_TLS,
  NO_MEMORY,
  STATION,
  STATION_TLS,
  STATION_FULL,
  CENSUS,
  CRASH,
  LOG,
  RECOVERY,
  QUICK_STARTS,
  OUTAGE,
  HOSTILE,
  HOSTILE_TLS,
  ...BAD_IMAGES,
  TELEMETRY_POWER_LOSS,
  UPDATE_POWER_LOSS,
  NVS_POWER_LOSS,
  DAMAGED_NVS,
  ENCRYPTED,
  LARGE_RECORDS,
];

interface Result {
  readonly commit: string;
  readonly date: string;
  readonly quick: boolean;
  readonly seed: number;
  readonly seconds: number;
  readonly figures?: Figures;
  readonly failed?: string;
}

interface Flags {
  quick?: boolean;
  case?: string[];
  seed?: string;
  again?: boolean;
  softReset?: boolean;
  atOnce: string;
}

/** What passed before, and a case that is run. */
interface Run {
  readonly commit: string;
  readonly seed: number;
  readonly quick: boolean;
}

/** One file a case: several processes may write. */
const fileOf = ({ name }: Case): string => keptAt("results", `${name}.json`);

const before = (one: Case): Result | undefined =>
  existsSync(fileOf(one)) ? JSON.parse(readFileSync(fileOf(one), "utf8")) : undefined;

async function main(flags: Flags): Promise<number> {
  const { quick = false, case: only = [], seed: given, again = false } = flags;
  const missing = whatIsMissing();
  if (missing !== undefined) {
    console.log(`skipped, ${missing}`);
    return 0;
  }
  const seed = given === undefined ? Date.now() % 1_000_000 : Number(given);
  const commit = execFileSync("git", ["-C", PROJECT, "describe", "--always", "--dirty"], {
    encoding: "utf8",
  }).trim();
  const run = { commit, seed, quick };
  console.log(`${CHIP.name}, ${commit}, seed ${seed}${quick ? ", quick" : ""}`);
  const left = CASES.filter((one) =>
    only.length > 0 ? only.includes(one.name) : again || !isPassed(one, run),
  );
  const atOnce = Math.min(Number(flags.atOnce), left.length);
  if (atOnce > 1) {
    const names = left.sort(longestFirst).map(({ name }) => name);
    const words = ["--chip", CHIP.name, "--seed", String(seed), ...(quick ? ["--quick"] : [])];
    if (flags.softReset) words.push("--soft-reset");
    return (await sideBySide(names, atOnce, words)) === 0 ? 0 : 1;
  }
  let failures = 0;
  for (const one of left) if (!(await passes(one, run))) failures++;
  return failures === 0 ? 0 : 1;
}

function isPassed(one: Case, { commit, quick }: Run): boolean {
  const last = before(one);
  const isKept = !!last && !last.failed && last.commit === commit && (!last.quick || quick);
  if (isKept) console.log(`ok    ${one.name} (${last.date})`);
  return isKept;
}

/** By what they took last; one that was never run may be the longest. */
const secondsOf = (one: Case): number => before(one)?.seconds ?? Number.MAX_SAFE_INTEGER;
const longestFirst = (one: Case, other: Case): number => secondsOf(other) - secondsOf(one);

async function passes(one: Case, { commit, seed, quick }: Run): Promise<boolean> {
  const began = Date.now();
  const say = (line: string): void => console.log(`      ${line}`);
  const result = await one.run({ seed, quick, say }).then(
    (figures) => ({ figures }),
    (error) => ({ failed: error instanceof Error ? error.message : String(error) }),
  );
  const seconds = Math.round((Date.now() - began) / 1000);
  const date = new Date().toISOString().slice(0, 10);
  mkdirSync(keptAt("results"), { recursive: true });
  writeFileSync(
    fileOf(one),
    `${JSON.stringify({ commit, date, quick, seed, seconds, ...result }, null, 2)}\n`,
  );
  if ("failed" in result) {
    console.log(
      `FAIL  ${one.name}: ${one.title} (${seconds} s; again: node scripts/campaign.mjs chip --chip ${CHIP.name} --case ${one.name} --seed ${seed})`,
    );
    console.log(result.failed.replace(/^/gm, "      "));
    return false;
  }
  console.log(`ok    ${one.name}: ${one.title} (${seconds} s) ${JSON.stringify(result.figures)}`);
  return true;
}

/** Without the tools nothing can be said. */
function whatIsMissing(): string | undefined {
  try {
    findSdk();
    findEmulator(CHIP.name);
    if (!process.env.IDF_PATH) return "ESP-IDF is missing: $IDF_PATH is not set";
    return undefined;
  } catch (error) {
    if (error instanceof SdkError) return error.message.split("\n")[0];
    throw error;
  }
}

new Command("chip")
  .description("the board's promises on an emulated chip; skipped where the tools are missing")
  .addOption(new Option("--chip <name>", "that is emulated").choices(CHIP_NAMES).default(CHIP_NAMES[0]))
  .option("--quick", "5 power losses of each kind, and short loads")
  .addOption(new Option("--case <name...>", "only these").choices(CASES.map(({ name }) => name)))
  .option("--seed <number>", "of the moments of the power losses")
  .option("--again", "also what passed at this commit before")
  .option("--soft-reset", "trust the emulator's reset of the chip")
  .option("--port <number>", "the platform's first port")
  .option("--at-once <number>", "emulators side by side; two cores have time for four", "1")
  .action(async (flags: Flags) => process.exit(await main(flags)))
  .parseAsync();
