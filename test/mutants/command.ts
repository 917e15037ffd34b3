// npm run mutants -- [WORDS]: breaks one promise at a time in a copy of the build, and runs the tests that have to see it. Exits 1 if one survives, or
// if the tests fail without it. WORDS: only mutants with them in their name.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { type Mutant, mutants, mutate } from "./mutants.js";

const PARTS = ["dist", "src", "hosts", "tools", "package.json", "ava.config.mjs"];
const LONGEST_MS = 120_000;
/** What the tests draw by chance is the same each time. */
const SEED = "1";
/** The first test that failed; what could not even be loaded names an error in its place. */
const FAILED = /^not ok \d+ - (?!\w*Error\b)(.*)$/m;

interface Ran {
  readonly passed: boolean;
  /** The first test that failed; undefined: none did, the run itself came to no good end. */
  readonly failed: string | undefined;
}

/** Runs test files of the copy, up to the first that fails. */
async function run(copy: string, files: readonly string[], timeout = LONGEST_MS): Promise<Ran> {
  const ava = join(copy, "node_modules/ava/entrypoints/cli.mjs");
  const args = [ava, "--tap", "--fail-fast", ...files.map((file) => `dist/test/${file}`)];
  const env = { ...process.env, MOTE_SEED: SEED, MOTE_TEST_RUN: "", AVA_FORCE_CI: "1" };
  const child = spawn(process.execPath, args, { cwd: copy, env, timeout });
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => {
    text += bytes;
  });
  child.stderr.resume();
  const [code] = await once(child, "close");
  return { passed: code === 0, failed: FAILED.exec(text)?.[1] };
}

/** Who sees it: the test file and its test; undefined if nobody does. */
async function killer(mutant: Mutant, copy: string): Promise<string | undefined> {
  const source = mutate(mutant, readFileSync(join(copy, mutant.file), "utf8"));
  if (source === undefined) throw new Error(`${mutant.file} has not exactly once: ${mutant.find}`);
  const { code } = await transform(source, { loader: "ts", format: "esm", target: "es2022" });
  const path = join(copy, "dist", mutant.file.replace(/ts$/, "js"));
  const built = readFileSync(path);
  writeFileSync(path, code);
  try {
    for (const file of mutant.tests) {
      const { passed, failed } = await run(copy, [file]);
      if (!passed && failed === undefined) throw new Error(`${file} came to no end with: ${mutant.name}`);
      if (!passed) return `${file}: ${failed}`;
    }
    return undefined;
  } finally {
    writeFileSync(path, built);
  }
}

const words = process.argv.slice(2).join(" ");
const chosen = mutants.filter(({ name }) => name.includes(words));
if (chosen.length === 0) throw new Error(`no mutant has this in its name: ${words}`);
const copy = mkdtempSync(join(tmpdir(), "mote-mutants-"));
const begun = performance.now();
let survivors = 0;
try {
  for (const part of PARTS) cpSync(part, join(copy, part), { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
  const tests = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const { passed, failed } = await run(copy, tests, tests.length * LONGEST_MS);
  if (!passed) throw new Error(`the tests fail without any mutant: ${failed}`);
  for (const mutant of chosen) {
    const seen = await killer(mutant, copy);
    if (seen === undefined) survivors++;
    console.log(
      `${seen === undefined ? "SURVIVES" : "killed  "}  ${mutant.name}\n          ${seen ?? mutant.tests}`,
    );
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(`${chosen.length} mutants in ${seconds} s, ${survivors} survive`);
  process.exitCode = survivors > 0 ? 1 : 0;
} finally {
  unlinkSync(join(copy, "node_modules"));
  rmSync(copy, { recursive: true, force: true });
}
