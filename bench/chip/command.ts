// node scripts/campaign.mjs bench-chip [--row KEY...] [--program NAME...] [--quick] [--profile]
// [--keep]: counts what Mote, a program in C and one on the SDK's HTTPClient do on the emulated
// chip.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError } from "commander";
import { CHIP } from "../../test/chip/chip.js";
import { PORT } from "../../test/chip/rig.js";
import { keepCosts, readResults } from "../results.js";
import { chipTables, writeTables } from "../tables.js";
import { LENGTHS, type Lengths, type Measured, measure } from "./measure.js";
import { whatIsMissing } from "./missing.js";
import { compilePlugin } from "./plugin.js";
import { type Profile, profileLines } from "./profile.js";
import { build, PROGRAMS, type ProgramName, type Variant } from "./programs.js";
import { byVariant, type ChipRow, type Cost, ROWS } from "./rows.js";

const MOST_FUNCTIONS = 25;
const SELF = fileURLToPath(import.meta.url);
/** The platform of a program listens at one port, TLS at the next. */
const PORTS = 2;

interface Flags {
  readonly quick?: boolean;
  readonly keep?: boolean;
  readonly profile?: boolean;
  readonly build?: boolean;
  readonly hour?: number;
  readonly port?: string;
  readonly row?: readonly string[];
  readonly program?: readonly ProgramName[];
}

type Profiles = Record<string, Readonly<Record<string, Profile>>>;

const say = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
const today = new Date().toISOString().slice(0, 10);

async function main(flags: Flags): Promise<number> {
  const missing = whatIsMissing();
  if (missing !== undefined) {
    console.log(`skipped, ${missing}`);
    return 0;
  }
  const { quick = false, keep = false, profile = false, row = [], program = PROGRAMS } = flags;
  // Figures of a short run are too coarse to be quoted.
  if (quick && keep) throw new InvalidArgumentError("--keep needs a run without --quick");
  const asked = ROWS.filter(({ key }) => row.length === 0 || row.includes(key));
  // A process that this command started for one program.
  if (process.send) return alone(program[0]!, asked, flags);
  const profiles: Profiles = {};
  const costs: Record<string, Record<string, Cost>> = {};
  const take = (name: ProgramName, measured: Measured): void => {
    profiles[name] = { ...profiles[name], ...measured.profiles };
    costs[name] = { ...costs[name], ...measured.costs };
    if (keep) keepCosts(CHIP.name, name, stamped(measured.costs));
  };
  let failed = 0;
  // Images first, so that no compiler runs beside what is measured.
  for (const name of program) failed += await another(name, ["--build"], take);
  if (flags.build) return failed > 0 ? 1 : 0;
  failed += (await Promise.all(program.map((name) => another(name, [], take)))).reduce((a, b) => a + b, 0);
  if (profile) for (const name of program) printProfiles(name, profiles[name] ?? {}, asked);
  const stored = readResults();
  if (keep) writeTables(stored);
  const shown = quick ? {} : { ...stored.chip[CHIP.name] };
  for (const name of program) shown[name] = { ...shown[name], ...costs[name] };
  console.log(chipTables(shown));
  return failed > 0 ? 1 : 0;
}

/** The same command for one program, in a process of its own. Resolves with its status. */
function another(
  name: ProgramName,
  more: readonly string[],
  take: (name: ProgramName, measured: Measured) => void,
): Promise<number> {
  const port = String(PORT + PORTS * PROGRAMS.indexOf(name));
  // The first word counts where an option is repeated.
  const words = ["--program", name, "--port", port, ...more, ...process.argv.slice(2)];
  const child = fork(SELF, words, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  child.on("message", (measured) => take(name, measured as Measured));
  return new Promise((done) => child.once("exit", (code) => done(code ?? 1)));
}

async function alone(name: ProgramName, rows: readonly ChipRow[], flags: Flags): Promise<number> {
  const { quick = false, hour, build: onlyBuild = false } = flags;
  const lengths: Lengths = { ...LENGTHS[quick ? "quick" : "whole"], ...(hour && { hourS: hour }) };
  const plugin = compilePlugin();
  let failed = 0;
  for (const group of byVariant(rows.filter(({ onlyMote }) => name === "mote" || !onlyMote)))
    try {
      if (onlyBuild) await buildAll(name, group);
      else {
        const { costs, profiles, failures } = await measure(name, group, lengths, plugin, say);
        // Wait until it is sent: the process may exit before a long message is.
        await new Promise((done) => process.send!({ costs, profiles, failures }, done));
        failed += failures.length;
        for (const failure of failures) say(`${name}: ${failure}`);
      }
    } catch (error) {
      failed++;
      const keys = group.map(({ key }) => key).join(", ");
      say(`${name}: ${keys} FAILED: ${error instanceof Error ? error.message : error}`);
    }
  return failed > 0 ? 1 : 0;
}

async function buildAll(name: ProgramName, rows: readonly ChipRow[]): Promise<void> {
  const { variant, work } = rows[0]!;
  if (work.do === "slot") return;
  const variants: Variant[] = [variant];
  if (rows.some(({ work }) => work.do === "update")) variants.push({ ...variant, version: "2.0.0" });
  for (const one of variants) {
    say(`${name}: building ${JSON.stringify(one)}`);
    await build(name, one);
  }
}

function printProfiles(
  name: ProgramName,
  profiles: Readonly<Record<string, Profile>>,
  rows: readonly ChipRow[],
): void {
  for (const { key, name: what } of rows) {
    const found = profiles[key];
    if (found)
      console.log(
        [`${name}, ${what}: instructions of one`, ...profileLines(found, MOST_FUNCTIONS)].join("\n"),
      );
  }
}

const stamped = (costs: Readonly<Record<string, Cost>>): Record<string, Cost> =>
  Object.fromEntries(Object.entries(costs).map(([key, cost]) => [key, { ...cost, seen: today }]));

function seconds(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("a number of seconds is expected");
}

new Command("bench-chip")
  .description(
    "Mote, a program in C and one on the SDK's HTTPClient on the emulated chip, instruction by instruction",
  )
  .option("--row <key...>", `only these: ${ROWS.map(({ key }) => key).join(", ")}`)
  .option("--program <name...>", `only these: ${PROGRAMS.join(", ")}`)
  .option("--profile", "where the instructions went, by function of the image")
  .option("--build", "only the images")
  .option("--hour <seconds>", "how long an idle hour is measured; default: all of it", seconds)
  .option("--chip <name>", "esp32c3 (default) or esp32")
  .option("--port <number>", "the platform's first port")
  .option("--quick", "shorter, not for quoting")
  .option("--keep", "store the figures in bench/results.json, and write the documents' tables")
  .action(async (flags: Flags) => process.exit(await main(flags)))
  .parseAsync();
