// node scripts/campaign.mjs removals [--list] [NAME...]: takes one safeguard at a time out of a copy of the sources; the test that is named beside it, or the
// power losses of its group, must fail. NAME: a group, or a part of a safeguard's name. Exits 1 if
// a safeguard is not missed or its text is gone.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { safeguards as inPowerLoss } from "../power-loss/safeguards.js";
import { type Edit, editsOf, type Safeguard, safeguards } from "./safeguards.js";

const PARTS = [
  ...["src", "report", "extras", "hosts", "tools", "examples", "test", "scripts"],
  ...["package.json", "manifest.json", "tsconfig.json", "ava.config.mjs"],
];
/** Pairs of power losses for each case; a process killed and then a power loss take two. */
const PAIRS: Readonly<Record<string, string>> = { files: "500" };
const FEW = "10";
const LONGEST_MS = 300_000;
const BROKE = /(\d+) of (\d+) runs broke/;

const words = process.argv.slice(2).filter((word) => word !== "--list");
const isAsked = (name: string): boolean => words.length === 0 || words.some((word) => name.includes(word));
const all = [
  ...Object.entries(safeguards).flatMap(([group, list]) =>
    list.map((one) => ({ ...one, name: `${group}: ${one.what}` })),
  ),
  ...Object.entries(inPowerLoss).flatMap(([group, list]) =>
    list.map((one) => ({ ...one, group, name: `power loss, ${group}: ${one.what}` })),
  ),
].filter(({ name }) => isAsked(name));

/** Throws if a text to replace is not there, or not once. */
function edited(path: string, edits: readonly Edit[]): string {
  let text = readFileSync(path, "utf8");
  for (const { from, to } of edits) {
    const times = text.split(from).length - 1;
    if (times !== 1) throw new Error(`is ${times} times in ${path}, not once: ${from}`);
    text = text.replace(from, () => to);
  }
  return text;
}

function run(copy: string, args: readonly string[]) {
  const env = { ...process.env, NODE_OPTIONS: `--import=${import.meta.resolve("tsx")}`, MOTE_SEED: "1" };
  return spawnSync(process.execPath, args, { cwd: copy, timeout: LONGEST_MS, encoding: "utf8", env });
}

/** The tests that passed in the sources as they are. */
const passed = new Set<string>();

/** Throws if the test does not pass: a test that fails without a reason shows nothing. */
function checkPasses({ test, title, ...one }: Safeguard, copy: string): void {
  const failure = passed.has(`${test} ${title}`) ? undefined : testFails({ test, title, ...one }, copy);
  if (failure !== undefined) throw new Error(`its test fails anyway: ${failure}`);
  passed.add(`${test} ${title}`);
}

/** The failures; undefined if there were none. */
function testFails({ test, title }: Safeguard, copy: string): string | undefined {
  const ava = "node_modules/ava/entrypoints/cli.mjs";
  const { status, stdout, error } = run(copy, [ava, test, "--fail-fast", "--match", title]);
  if (error) return "no end";
  if (/No tests found|Couldn.t find any/.test(stdout)) throw new Error(`there is no such test: ${title}`);
  if (status === 0) return undefined;
  return /✘ (.*)/.exec(stdout)?.[1]?.slice(0, 160) ?? "failed";
}

function powerLossFails(group: string, copy: string): string | undefined {
  const { stdout, stderr, error } = run(copy, ["test/power-loss/run.ts", PAIRS[group] ?? FEW, group]);
  if (error) return "no end";
  const [, broke, runs] = BROKE.exec(stdout) ?? [];
  if (broke === undefined) throw new Error(stderr.slice(0, 2000));
  return broke === "0" ? undefined : `${broke} of ${runs} runs broke a promise`;
}

function without(one: (typeof all)[number], copy: string): string | undefined {
  const path = join(copy, one.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, edited(path, editsOf(one)));
  try {
    return "group" in one ? powerLossFails(one.group, copy) : testFails(one, copy);
  } finally {
    writeFileSync(path, source);
  }
}

function campaign(): number {
  const copy = mkdtempSync(join(tmpdir(), "mote-removals-"));
  let bad = 0;
  try {
    for (const part of PARTS) cpSync(part, join(copy, part), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
    // Neither the build nor what it built is needed.
    const config = join(copy, "ava.config.mjs");
    writeFileSync(config, edited(config, [{ from: "await buildTools();\n", to: "" }]));
    for (const one of all) {
      let result: string;
      try {
        if (!("group" in one)) checkPasses(one, copy);
        const missed = without(one, copy);
        result = missed === undefined ? "NOT MISSED" : `missed: ${missed}`;
        if (missed === undefined) bad++;
      } catch (error) {
        bad++;
        result = `ERROR: ${error instanceof Error ? error.message : error}`;
      }
      console.log(`${one.name}\n  ${result}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${all.length - bad} of ${all.length} safeguards are missed`);
  return bad;
}

if (all.length === 0) throw new Error(`no safeguard has a name with ${words.join(" or ")}`);
if (process.argv.includes("--list")) for (const { name } of all) console.log(name);
else process.exitCode = campaign() > 0 ? 1 : 0;
