// `npm run test:chip`: the board's promises on an emulated ESP32-C3. What was passed is kept, and not run again unless something changed.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { findEmulator } from "../../tools/moddable/esp32/emulator.js";
import { findSdk, PROJECT, SdkError } from "../../tools/moddable/sdk.js";
import type { Case, Figures } from "./case.js";
import { BAD_IMAGES } from "./cases/bad-images.js";
import { CABLE, COMMISSIONING_POWER_LOSS, IMPROV } from "./cases/commissioning.js";
import { CRASH, RECOVERY } from "./cases/crashes.js";
import { FACTORY } from "./cases/factory.js";
import { CABLE_FLASH } from "./cases/flash.js";
import { HOSTILE, HOSTILE_TLS } from "./cases/hostile.js";
import { LARGE_RECORDS } from "./cases/large-records.js";
import { LOG } from "./cases/log.js";
import { LOAD, MEMORY, MEMORY_TLS, NO_MEMORY } from "./cases/memory.js";
import { OUTAGE, QUICK_STARTS } from "./cases/network.js";
import { DAMAGED_NVS, NVS_POWER_LOSS } from "./cases/nvs.js";
import { OPERATOR } from "./cases/operator.js";
import { PORT_PROMISES, PORT_PROMISES_TLS } from "./cases/port.js";
import { TELEMETRY_POWER_LOSS, UPDATE_POWER_LOSS } from "./cases/power-losses.js";
import { TLS } from "./cases/tls.js";
import { TOUR, TOUR_TLS } from "./cases/tour.js";
import { TRUST } from "./cases/trust.js";
import { CHIP } from "./rig.js";

const CASES: readonly Case[] = [
  PORT_PROMISES,
  PORT_PROMISES_TLS,
  TLS,
  CABLE,
  IMPROV,
  CABLE_FLASH,
  FACTORY,
  TOUR,
  TOUR_TLS,
  MEMORY,
  MEMORY_TLS,
  NO_MEMORY,
  CRASH,
  LOG,
  TRUST,
  RECOVERY,
  QUICK_STARTS,
  OUTAGE,
  HOSTILE,
  HOSTILE_TLS,
  ...BAD_IMAGES,
  TELEMETRY_POWER_LOSS,
  UPDATE_POWER_LOSS,
  COMMISSIONING_POWER_LOSS,
  NVS_POWER_LOSS,
  DAMAGED_NVS,
  LARGE_RECORDS,
  OPERATOR,
  LOAD,
];
const RESULTS = join(PROJECT, "build", "chip", "results.json");

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
}

async function main({ quick = false, case: only = [], seed: given, again = false }: Flags): Promise<number> {
  const missing = whatIsMissing();
  if (missing !== undefined) {
    console.log(`skipped, ${missing}`);
    return 0;
  }
  const seed = given === undefined ? Date.now() % 1_000_000 : Number(given);
  const commit = execFileSync("git", ["-C", PROJECT, "describe", "--always", "--dirty"], {
    encoding: "utf8",
  }).trim();
  const read = (): Record<string, Result> =>
    existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, "utf8")) : {};
  let failures = 0;
  console.log(`${CHIP}, ${commit}, seed ${seed}${quick ? ", quick" : ""}`);
  for (const one of CASES) {
    if (only.length > 0 && !only.includes(one.name)) continue;
    const before = read()[one.name];
    if (
      !again &&
      only.length === 0 &&
      before &&
      !before.failed &&
      before.commit === commit &&
      (!before.quick || quick)
    ) {
      console.log(`ok    ${one.name} (${before.date})`);
      continue;
    }
    const began = Date.now();
    const say = (line: string): void => console.log(`      ${line}`);
    const result = await one.run({ seed, quick, say }).then(
      (figures) => ({ figures }),
      (error) => ({ failed: error instanceof Error ? error.message : String(error) }),
    );
    const seconds = Math.round((Date.now() - began) / 1000);
    const date = new Date().toISOString().slice(0, 10);
    mkdirSync(join(RESULTS, ".."), { recursive: true });
    const results = { ...read(), [one.name]: { commit, date, quick, seed, seconds, ...result } };
    writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
    if ("failed" in result) {
      failures++;
      console.log(
        `FAIL  ${one.name}: ${one.title} (${seconds} s; again: npm run test:chip -- --case ${one.name} --seed ${seed})`,
      );
      console.log(result.failed.replace(/^/gm, "      "));
    } else console.log(`ok    ${one.name}: ${one.title} (${seconds} s) ${JSON.stringify(result.figures)}`);
  }
  return failures === 0 ? 0 : 1;
}

/** Without the tools nothing can be said. */
function whatIsMissing(): string | undefined {
  try {
    findSdk();
    findEmulator(CHIP);
    if (!process.env.IDF_PATH) return "ESP-IDF is missing: $IDF_PATH is not set";
    return undefined;
  } catch (error) {
    if (error instanceof SdkError) return error.message.split("\n")[0];
    throw error;
  }
}

new Command("test:chip")
  .description("the board's promises on an emulated ESP32-C3; skipped where the tools are missing")
  .option("--quick", "5 power losses of each kind, and 10 minutes of load")
  .option("--case <name...>", `only these: ${CASES.map(({ name }) => name).join(", ")}`)
  .option("--seed <number>", "of the moments of the power losses")
  .option("--again", "also what passed at this commit before")
  .action(async (flags: Flags) => process.exit(await main(flags)))
  .parseAsync();
