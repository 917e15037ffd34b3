// node scripts/campaign.mjs removals [GROUP...]: takes one safeguard at a time out of a copy of the sources, injects power losses again, and prints how many runs broke a
// promise. Exits 1 if a safeguard is not missed: a suite that can't fail proves nothing.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Safeguard, safeguards } from "./safeguards.js";

const PARTS = ["src", "extras", "hosts", "tools", "examples", "test", "scripts", "package.json"];
/** Of power losses, for each case; a process killed and then a power loss take two. */
const PAIRS: Readonly<Record<string, string>> = { files: "500" };
const FEW = "10";
const LONGEST_MS = 300_000;
const BROKE = /(\d+) of (\d+) runs broke/;

/** What the power losses show without the safeguard: `12 of 345`. */
function without({ file, and, ...edit }: Safeguard, group: string, copy: string): string {
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  let text = source;
  for (const { from, to } of and ? [edit, and] : [edit]) {
    if (text.split(from).length !== 2) throw new Error(`${file} has not once: ${from}`);
    text = text.replace(from, () => to);
  }
  writeFileSync(path, text);
  try {
    return injectPowerLosses(copy, group);
  } finally {
    writeFileSync(path, source);
  }
}

function injectPowerLosses(copy: string, group: string): string {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, args, { cwd: copy, timeout: LONGEST_MS, encoding: "utf8" });
  const { stdout, stderr, error } = run("--import=tsx", "test/power-loss/run.ts", PAIRS[group] ?? FEW, group);
  if (error) return "no end";
  const [, broke, runs] = BROKE.exec(stdout) ?? [];
  if (broke === undefined) throw new Error(stderr.slice(0, 2000));
  return broke === "0" ? "none" : `${broke} of ${runs}`;
}

const only = process.argv.slice(2);
const copy = mkdtempSync(join(tmpdir(), "mote-removals-"));
try {
  for (const part of PARTS) cpSync(part, join(copy, part), { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
  let unmissed = 0;
  console.log("| taken out | runs that broke a promise |\n|---|---|");
  for (const [group, list] of Object.entries(safeguards)) {
    for (const one of only.length === 0 || only.includes(group) ? list : []) {
      const broke = without(one, group, copy);
      if (broke === "none") unmissed++;
      console.log(`| ${group}: ${one.what} | ${broke} |`);
    }
  }
  if (unmissed > 0) console.log(`${unmissed} safeguards are not missed`);
  process.exitCode = unmissed > 0 ? 1 : 0;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
