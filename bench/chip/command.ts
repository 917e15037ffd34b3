// node scripts/campaign.mjs bench-chip [--row KEY...] [--program NAME...] [--quick] [--profile]: Mote, a program in C and one on the SDK's HTTPClient on the emulated chip, counted.
import { execFileSync, fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { CHIP } from "../../test/chip/chip.js";
import { PORT } from "../../test/chip/rig.js";
import { PROJECT } from "../../tools/project.js";
import { keep, keptCosts, keptProfiles, type Length } from "./kept.js";
import { LENGTHS, measure } from "./measure.js";
import { whatIsMissing } from "./missing.js";
import { compilePlugin } from "./plugin.js";
import { profileLines } from "./profile.js";
import { build, PROGRAMS, type ProgramName, type Variant } from "./programs.js";
import { type ChipRow, type Cost, type Costs, DERIVED, derivedOf, ROWS } from "./rows.js";
import { chipTable, linesOf } from "./table.js";

const RESULTS = join(PROJECT, "bench", "chip-results.json");
const MOST_FUNCTIONS = 25;
const SELF = fileURLToPath(import.meta.url);
/** The platform of a program listens at one port, TLS at the next. */
const PORTS = 2;

interface Flags {
  readonly quick?: boolean;
  readonly profile?: boolean;
  readonly build?: boolean;
  readonly row?: readonly string[];
  readonly program?: readonly ProgramName[];
}

async function main(flags: Flags): Promise<number> {
  const { quick = false, profile = false, row = [], program = PROGRAMS } = flags;
  const length = lengthOf(flags);
  const missing = whatIsMissing();
  if (missing !== undefined) {
    console.log(`skipped, ${missing}`);
    return 0;
  }
  const asked = ROWS.filter(({ key }) => row.length === 0 || row.includes(key));
  const [only] = program;
  if (program.length === 1 && only) return alone(only, asked, flags);
  // Images first, so that no compiler runs beside what is measured.
  const words = [...(quick ? ["--quick"] : []), ...(row.length > 0 ? ["--row", ...row] : [])];
  let failed = 0;
  for (const name of program) failed += await another(name, [...words, "--build"]);
  const codes = await Promise.all(program.map((name) => another(name, words)));
  failed += codes.filter((code) => code !== 0).length;
  if (profile) for (const name of program) printProfiles(name, length, asked);
  finish(program, length);
  return failed > 0 ? 1 : 0;
}

/** The same command for one program, in a process of its own, whose status it resolves with. */
function another(name: ProgramName, words: readonly string[]): Promise<number> {
  const port = String(PORT + PORTS * PROGRAMS.indexOf(name));
  const child = fork(SELF, ["--program", name, "--port", port, ...words], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return new Promise((done) => child.once("exit", (code) => done(code ?? 1)));
}

async function alone(name: ProgramName, rows: readonly ChipRow[], flags: Flags): Promise<number> {
  const { profile = false, build: onlyBuild = false } = flags;
  const length = lengthOf(flags);
  const plugin = compilePlugin();
  const say = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
  const seen = now();
  let failed = 0;
  for (const group of byVariant(rows))
    try {
      if (onlyBuild) await buildAll(name, group, say);
      else {
        const { costs, profiles, failures } = await measure(name, group, LENGTHS[length], plugin, say);
        keep(name, length, stamped(costs, seen), profiles);
        failed += failures.length;
        for (const failure of failures) say(`${name}: ${failure}`);
      }
    } catch (error) {
      failed++;
      const keys = group.map(({ key }) => key).join(", ");
      console.error(`${name}: ${keys} FAILED: ${error instanceof Error ? error.message : error}`);
    }
  if (onlyBuild) return failed > 0 ? 1 : 0;
  if (profile) printProfiles(name, length, rows);
  finish([name], length);
  return failed > 0 ? 1 : 0;
}

async function buildAll(
  name: ProgramName,
  rows: readonly ChipRow[],
  say: (line: string) => void,
): Promise<void> {
  const { variant } = rows[0]!;
  const variants: Variant[] = [variant];
  if (rows.some(({ work }) => work.do === "update")) variants.push({ ...variant, version: "2.0.0" });
  for (const one of variants) {
    say(`${name}: building ${JSON.stringify(one)}`);
    await build(name, one);
  }
}

/** The table of all that is kept. */
function finish(program: readonly ProgramName[], length: Length): void {
  const costs: Costs = Object.fromEntries(
    PROGRAMS.map((name) => {
      const measured = keptCosts(name, length);
      return [name, { ...measured, ...derivedOf(name, measured) }];
    }),
  );
  const lines = linesOf([...ROWS, ...DERIVED], costs);
  console.log(chipTable(lines));
  if (length === "whole" && program.length === PROGRAMS.length)
    writeFileSync(RESULTS, `${JSON.stringify({ chip: CHIP.name, lines }, null, 2)}\n`);
}

const lengthOf = ({ quick = false }: Flags): Length => (quick ? "quick" : "whole");

function printProfiles(name: ProgramName, length: Length, rows: readonly ChipRow[]): void {
  const profiles = keptProfiles(name, length);
  for (const { key, name: what } of rows) {
    const found = profiles[key];
    if (found)
      console.log(
        [`${name}, ${what}: instructions of one`, ...profileLines(found, MOST_FUNCTIONS)].join("\n"),
      );
  }
}

/** The commit that is measured, and the day. */
function now(): string {
  const words = ["-C", PROJECT, "describe", "--always", "--dirty"];
  const commit = execFileSync("git", words, { encoding: "utf8" }).trim();
  return `${commit}, ${new Date().toISOString().slice(0, 10)}`;
}

function stamped(costs: Readonly<Record<string, Cost>>, seen: string): Record<string, Cost> {
  return Object.fromEntries(Object.entries(costs).map(([key, cost]) => [key, { ...cost, seen }]));
}

/** Rows of one image are measured in one session. */
function byVariant(rows: readonly ChipRow[]): ChipRow[][] {
  const groups = new Map<string, ChipRow[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.variant);
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()];
}

new Command("bench-chip")
  .description(
    "Mote, a program in C and one on the SDK's HTTPClient on the emulated chip, instruction by instruction",
  )
  .option("--row <key...>", `only these: ${ROWS.map(({ key }) => key).join(", ")}`)
  .option("--program <name...>", `only these: ${PROGRAMS.join(", ")}`)
  .option("--profile", "where the instructions went, by part of the image and by function")
  .option("--build", "only the images")
  .option("--port <number>", "the platform's first port")
  .option("--quick", "shorter, not for quoting; writes nothing")
  .action(async (flags: Flags) => process.exit(await main(flags)))
  .parseAsync();
