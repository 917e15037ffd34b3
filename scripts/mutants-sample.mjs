// npm run mutants:sample -- [--seed N] [--size 300] [--fresh] [--survivors FILE]: a seeded sample of all mutants that Stryker knows in src/agent, src/http and src/platform. All of
// them are put into a copy of the build once; each of the sample is switched on in turn, and the tests that reach it run, on clocks that stand still, the nearest first,
// for 10 s of CPU at the most. Goes on where it was ended, on the copy that it began with, in build/mutants/N; --fresh starts again. Prints the score with its 95 %
// interval, and who survived. --survivors: those that an earlier sample wrote to FILE, its results.ndjson, in place of a sample, as far as their lines are there still.
import { fork } from "node:child_process";
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
    survivors: { type: "string" },
  },
});
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const work = join(root, "build/mutants", values.seed);
const at = (...path) => join(work, ...path);
const MUTATED = ["src/agent", "src/http", "src/platform"];
const TESTS = /^src\/(agent|net|wire)\/.*(?<!slow)\.test\.js$/;
/** Of the board's own build, which is not the one that is mutated; and what takes seconds a test and is nobody's nearest: 150 RPCs, random commands, a platform at random. */
const OTHERS = /\/(lean|inspected|(rpc|attributes)\/model|counted|burst|random-platforms)\.test/;
const MOST_MS = 10_000;
/** What is hit so much more often than without a mutant goes round in a circle. */
const HITS = 100;
/** CPU of one job, and time without any, after which nothing comes any more. */
const HANGS_MS = 20_000;
const IDLE_MS = 120_000;

const lines = (path) =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
const append = (path, value) => appendFileSync(path, `${JSON.stringify(value)}\n`);

/** The copy with every mutant in it, and none of them active. */
async function prepare() {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const part of ["dist", "package.json"]) cpSync(join(root, part), at(part), { recursive: true });
  // Of test some tests read documents.
  for (const part of ["node_modules", "test"]) symlinkSync(join(root, part), at(part));
  const files = MUTATED.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((path) => path.endsWith(".ts") && !/\.(stub|d)\.ts$/.test(path))
      .sort()
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
  for (const { name, content } of sources) {
    const copy = at("sources", name);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, content);
  }
  writeFileSync(at("mutants.json"), JSON.stringify(mutants));
}

/** ms of CPU of a process; 0 where the system does not say. */
function cpuOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return (user + system) * 10;
  } catch {
    return 0;
  }
}

/** A process with all tests loaded; it is made again once it hung. */
class Child {
  #process;
  loaded;

  async start(mutant = "") {
    const env = { ...process.env, MOTE_SEED: "1", MUTANT: mutant };
    this.#process = fork(join(root, "scripts/mutants-child.mjs"), { cwd: work, env, stdio: "ignore" });
    const files = readdirSync(at("dist/test"), { recursive: true }).filter(
      (file) => TESTS.test(file) && !OTHERS.test(file),
    );
    this.loaded = await this.ask({ does: "load", files: files.sort() });
    return this;
  }

  /** The answer; undefined if there is none, as the process ended or hangs. */
  ask(job) {
    const child = this.#process;
    const begun = cpuOf(child.pid);
    let before = begun;
    let idleMs = 0;
    return new Promise((resolve) => {
      const end = (answer) => {
        clearInterval(watch);
        child.removeAllListeners();
        resolve(answer);
      };
      const watch = setInterval(() => {
        const now = cpuOf(child.pid);
        idleMs = now > before ? 0 : idleMs + 1000;
        before = now;
        if (now - begun > HANGS_MS || idleMs > IDLE_MS) end();
      }, 1000);
      child.on("message", end);
      child.on("exit", () => end());
      child.send(job);
    });
  }

  close() {
    this.#process.kill("SIGKILL");
  }
}

/** What each test reaches, and its CPU time. */
async function cover() {
  if (existsSync(at("covered"))) return;
  const known = new Set(lines(at("coverage.ndjson")).map(({ key }) => key));
  let child = await new Child().start();
  writeFileSync(at("static.json"), JSON.stringify(child.loaded.hits));
  for (const key of child.loaded.keys.filter((key) => !known.has(key))) {
    const covered = await child.ask({ does: "cover", key });
    append(at("coverage.ndjson"), covered ?? { key, passed: false, ms: 0, hits: {} });
    if (!covered?.passed) console.log(`fails without any mutant, left out: ${key}`);
    if (covered) continue;
    child.close();
    child = await new Child().start();
  }
  child.close();
  writeFileSync(at("covered"), "");
}

if (values.fresh || !existsSync(at("mutants.json"))) await prepare();
await cover();
const coverage = lines(at("coverage.ndjson")).filter(({ passed }) => passed);
const atLoad = JSON.parse(readFileSync(at("static.json"), "utf8"));
const all = JSON.parse(readFileSync(at("mutants.json"), "utf8"));
const sourceOf = new Map();
/** What and where it is. */
function described({ id, fileName: file, location: { start }, mutatorName: kind, replacement }) {
  if (!sourceOf.has(file)) sourceOf.set(file, readFileSync(at("sources", file), "utf8").split("\n"));
  const line = sourceOf.get(file)[start.line];
  const text = line.trim();
  return {
    id,
    file,
    line: start.line + 1,
    column: start.column - line.indexOf(text),
    kind,
    replacement,
    text,
  };
}
/** The same mutant in another state of the sources has its line's text, wherever that is. */
const nameOf = ({ file, column, kind, replacement, text }) =>
  JSON.stringify([file, column, kind, replacement, text]);
const survived = lines(values.survivors ?? "").filter(({ verdict }) => verdict !== "killed");
const wanted = values.survivors && new Set(survived.map(nameOf));
const sample = wanted
  ? all.filter((mutant) => wanted.has(nameOf(described(mutant))))
  : shuffled(all, Number(values.seed)).slice(0, Number(values.size));
const results = new Map(lines(at("results.ndjson")).map((result) => [result.id, result]));
console.log(
  `${all.length} mutants in all, ${sample.length} of them ${wanted ? `of the ${wanted.size} that survived` : `drawn by seed ${values.seed}`}; ${coverage.length} tests`,
);
let child = await new Child().start();

const fileOf = new Map(all.map(({ id, fileName }) => [id, fileName]));
/** How many mutants each test reaches, in all and by file. */
for (const test of coverage) {
  const reached = Object.keys(test.hits);
  test.inFile = {};
  for (const id of reached) test.inFile[fileOf.get(id)] = (test.inFile[fileOf.get(id)] ?? 0) + 1;
  test.reach = reached.length;
}

/** Tests that reach it, those first that are cheap and reach little but its file; of what is reached only when the module is loaded those that reach its file. */
function testsOf({ id, fileName }) {
  const reached = coverage.filter(({ hits }) => hits[id]);
  const tests =
    reached.length > 0 || !atLoad[id] ? reached : coverage.filter(({ inFile }) => inFile[fileName]);
  const costOf = ({ ms, reach, inFile }) => ((20 + ms) * reach) / inFile[fileName];
  return tests.sort((one, other) => costOf(one) - costOf(other));
}

async function judge(mutant) {
  const { id } = mutant;
  const tests = testsOf(mutant);
  if (tests.length === 0) return { verdict: "not reached" };
  const most = Math.max(...tests.map(({ hits }) => hits[id] ?? 0));
  const job = {
    does: "kill",
    id,
    keys: tests.map(({ key }) => key),
    hitLimit: 1000 + HITS * most,
    mostMs: MOST_MS,
  };
  // What is evaluated when the module is loaded needs a process that loads it with the mutant.
  const own = atLoad[id] ? await new Child().start(id) : child;
  const answer = own.loaded && (await own.ask(job));
  if (own !== child || !answer) own.close();
  if (own === child && !answer) child = await new Child().start();
  if (!answer) return { verdict: "killed", killer: "hangs, or does not load" };
  return { verdict: answer.killer ? "killed" : "survived", killer: answer.killer };
}

for (const mutant of sample) {
  if (results.has(mutant.id)) continue;
  const result = { ...described(mutant), ...(await judge(mutant)) };
  results.set(mutant.id, result);
  append(at("results.ndjson"), result);
}
child.close();
const judged = sample.map(({ id }) => results.get(id));
for (const { verdict, file, line, kind, replacement } of judged)
  if (verdict !== "killed") console.log(`${verdict}: ${file}:${line} ${kind}: ${replacement.slice(0, 120)}`);
const killed = judged.filter(({ verdict }) => verdict === "killed").length;
console.log(
  `killed ${killed} of ${judged.length}: ${((100 * killed) / judged.length).toFixed(1)} %, 95 % interval ${interval(killed, judged.length)}`,
);
