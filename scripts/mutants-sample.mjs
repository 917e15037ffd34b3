// npm run mutants:sample -- [--seed N] [--size 300] [--fresh]: a seeded sample of all mutants that Stryker knows in src/agent and src/net. All of them are put into
// a copy of the build once, and one is switched on for each run of the tests that reach it: suites on a clock that stands still, 15 s of CPU at the most, those that
// reach least first. Goes on where it was ended, on the copy that it began with; --fresh begins anew. Prints the score with its 95 % interval, and who survived.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import { transform } from "esbuild";
import { interval, shuffled } from "./sampling.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    size: { type: "string", default: "300" },
    fresh: { type: "boolean" },
  },
});
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const work = join(root, "build/mutants", values.seed);
const at = (...path) => join(work, ...path);
const MUTATED = ["src/agent", "src/net"];
const TESTS = /^(src\/(agent|net|wire)|simulation)\/.*(?<!slow)\.test\.js$/;
/** They tell thousands of stories: no suites of seconds. */
const LONG = /simulation\/(sample|replay|secrets)|simulation\/sleep-cycle|random-platforms/;
const MOST_MS = 15_000;
/** Of those that run first: most mutants are seen by them. */
const FIRST_MS = 3000;
const SLACK_MS = 60_000;
/** What is hit so much more often than without a mutant goes round in a circle. */
const HITS = 100;
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const lines = (path) =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

const HOOK = `import { writeFileSync } from "node:fs";
const { MUTANT, HIT_LIMIT, COVERAGE } = process.env;
globalThis.__stryker__ = MUTANT ? { activeMutant: MUTANT, hitCount: 0, hitLimit: Number(HIT_LIMIT) } : {};
if (COVERAGE) process.on("exit", () => writeFileSync(COVERAGE, JSON.stringify({ hits: globalThis.__stryker__.mutantCoverage?.static ?? {}, ...process.cpuUsage() })));
`;
const CONFIG = `export default { files: ["dist/**/*.test.js"], require: ["./hook.mjs", "./dist/test/seed.js"], workerThreads: false, timeout: "5m" };
`;

/** The copy with every mutant in it, and none of them active. */
async function prepare() {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const part of ["dist", "package.json"]) cpSync(join(root, part), at(part), { recursive: true });
  symlinkSync(join(root, "node_modules"), at("node_modules"));
  writeFileSync(at("hook.mjs"), HOOK);
  writeFileSync(at("ava.config.mjs"), CONFIG);
  const files = MUTATED.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((path) => path.endsWith(".ts") && !/\.(stub|d)\.ts$/.test(path))
      .map((path) => join(folder, path)),
  );
  const logger = { isDebugEnabled: () => false, debug() {}, info() {}, warn: console.warn };
  const sources = files.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(join(root, name), "utf8"),
  }));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const { files: made, mutants } = await new Instrumenter(logger).instrument(sources, options);
  for (const { name, content } of made) {
    const { code } = await transform(content, { loader: "ts", format: "esm", target: "es2022" });
    writeFileSync(at("dist", name.replace(/ts$/, "js")), code);
  }
  writeFileSync(at("mutants.json"), JSON.stringify(mutants));
}

/** Runs the tests of \`files\`, in one process. */
async function run(files, env, longestMs) {
  const file = "dist/test/sampled.test.js";
  writeFileSync(at(file), files.map((name) => `import "./${name}";\n`).join(""));
  const args = [at("node_modules/ava/entrypoints/cli.mjs"), "--tap", "--fail-fast", file];
  const all = { ...process.env, MOTE_SEED: "1", ...env };
  const child = spawn(process.execPath, args, { cwd: work, env: all, stdio: "ignore", detached: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    process.kill(-child.pid, "SIGKILL");
  }, longestMs);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  return { passed: code === 0, late };
}

/** What each test file reaches, and the CPU time that it takes. */
async function cover() {
  const known = new Set(lines(at("coverage.ndjson")).map(({ file }) => file));
  const files = readdirSync(join(root, "dist/test"), { recursive: true }).filter((file) => TESTS.test(file));
  for (const file of files.filter((file) => !LONG.test(file) && !known.has(file)).sort()) {
    const { passed } = await run([file], { COVERAGE: at("hits.json") }, 10 * SLACK_MS);
    const { hits, user, system } = passed ? json(at("hits.json")) : { hits: {}, user: 0, system: 0 };
    const ms = (user + system) / 1000;
    appendFileSync(at("coverage.ndjson"), `${JSON.stringify({ file, passed, ms, hits })}\n`);
    console.log(`${(ms / 1000).toFixed(1).padStart(6)} s  ${passed ? "" : "FAILS, left out: "}${file}`);
  }
}

/** Files that reach it: first some that reach little else, then more, up to the limit. */
function groupsOf(id, coverage) {
  const reach = ({ hits }) => Object.keys(hits).length;
  const those = coverage
    .filter(({ hits, ms }) => hits[id] && ms <= MOST_MS)
    .sort((one, other) => reach(one) - reach(other));
  const groups = [[], []];
  let ms = 0;
  for (const one of those) {
    if (ms + one.ms > MOST_MS) continue;
    groups[ms < FIRST_MS ? 0 : 1].push(one);
    ms += one.ms;
  }
  return groups.filter((group) => group.length > 0);
}

async function judge({ id }, coverage) {
  const groups = groupsOf(id, coverage);
  for (const group of groups) {
    const hits = group.reduce((sum, one) => sum + one.hits[id], 0);
    const ms = group.reduce((sum, one) => sum + one.ms, 0);
    const env = { MUTANT: id, HIT_LIMIT: String(1000 + HITS * hits) };
    const { passed, late } = await run(
      group.map(({ file }) => file),
      env,
      SLACK_MS + 5 * ms,
    );
    if (!passed) return late ? "killed by time" : "killed";
  }
  return groups.length > 0 ? "survived" : "not reached";
}

if (values.fresh || !existsSync(at("mutants.json"))) await prepare();
await cover();
const coverage = lines(at("coverage.ndjson")).filter(({ passed }) => passed);
const all = json(at("mutants.json"));
const sample = shuffled(all, Number(values.seed)).slice(0, Number(values.size));
const results = new Map(lines(at("results.ndjson")).map((result) => [result.id, result]));
console.log(`${all.length} mutants in all, ${sample.length} of them drawn by seed ${values.seed}`);
for (const mutant of sample) {
  if (results.has(mutant.id)) continue;
  const { id, fileName: file, location, mutatorName: kind, replacement } = mutant;
  const result = {
    id,
    verdict: await judge(mutant, coverage),
    file,
    line: location.start.line + 1,
    kind,
    replacement,
  };
  results.set(id, result);
  appendFileSync(at("results.ndjson"), `${JSON.stringify(result)}\n`);
}
const judged = sample.map(({ id }) => results.get(id));
for (const { verdict, file, line, kind, replacement } of judged)
  if (!verdict.startsWith("killed"))
    console.log(`${verdict}: ${file}:${line} ${kind}: ${replacement.slice(0, 120)}`);
const killed = judged.filter(({ verdict }) => verdict.startsWith("killed")).length;
console.log(
  `killed ${killed} of ${judged.length}: ${((100 * killed) / judged.length).toFixed(1)} %, 95 % interval ${interval(killed, judged.length)}`,
);
