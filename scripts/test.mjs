// node scripts/test.mjs [--all] [FILE...]: checks types and style and runs the quick tests, with --all every test; with FILEs only those tests.
// Prints one progress line, then each failure as AVA shows it, with its file, and at last the
// counts.
import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const isAll = words.includes("--all");
const named = words.filter((word) => word !== "--all");

/** Slow tests run these samples in full. */
const SAMPLES = /(^|\/)sample(-board)?\.test\.ts$/;
const SLOW = /\.slow\.test\.ts$/;
const PASSED = /^ {2}✔ /;
const FAILED = /^ {2}✘ \[(?:fail|unexpected pass)\]/;
const SKIPPED = /^ {2}- \[(?:skip|todo)\]/;
/** What AVA reports besides a failed test: it stands among the passed tests. */
const BROKEN =
  /^ {2}(?:Uncaught exception in|Unhandled rejection in|✘ (?:Timed out|Exiting|Internal error|No tests found|Error in|\d+ tests? remaining|\S+ exited)) ?/;
const REDRAW_MS = 200;

const show = (text) => process.stdout.write(text);
const isTerminal = process.stdout.isTTY === true;
const progress = (text) => isTerminal && show(`\r\x1b[2K${text}`);

/** Types and style. Returns the output of what failed. */
function check() {
  progress("checking types and style");
  const { status, stdout, stderr } = spawnSync("npm", ["run", "-s", "check"], {
    cwd: root,
    encoding: "utf8",
  });
  return status === 0 ? undefined : `${stdout}${stderr}`;
}

function selected() {
  if (named.length > 0) return named;
  return ["test", "bench"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((path) => `${folder}/${path}`),
    )
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .filter((path) => !(isAll ? SAMPLES : SLOW).test(path));
}

/**
 * `test › src › http › head › title` as `test/src/http/head.test.ts › title`; AVA omits a folder
 * that all files share.
 */
function withFile(line) {
  const parts = line.trim().split(" › ");
  for (let count = parts.length - 1; count > 0; count--) {
    const path = `${parts.slice(0, count).join("/")}.test.ts`;
    const file = ["", "test/", "bench/"]
      .map((folder) => folder + path)
      .find((file) => existsSync(join(root, file)));
    if (file) return `  ${file} › ${parts.slice(count).join(" › ")}`;
  }
  return line;
}

const FRAME = /^\s+at .*?\(?((?:file:\/\/)?\/[^():]+):(\d+):\d+\)?$/;

/**
 * AVA shows the code of a failed assertion. Of a thrown error this shows the first line of ours,
 * and no frame of other code.
 */
function withCode(line, lines) {
  const [, url, number] = FRAME.exec(line) ?? [];
  if (url === undefined) return /^\s+at .*node:/.test(line) ? [] : [line];
  const path = url.replace("file://", "");
  if (!path.startsWith(root) || path.includes("node_modules")) return [];
  if (lines.at(-1)?.startsWith("      at ")) return [line];
  const code = readFileSync(path, "utf8").split("\n");
  const first = Math.max(0, number - 2);
  return ["", ...code.slice(first, first + 3).map((text, i) => `   ${first + i + 1}: ${text}`), "", line];
}

/** Runs AVA and resolves with the counts and all that it said of failures. */
function run(files, seed) {
  const ava = join(root, "node_modules/ava/entrypoints/cli.mjs");
  const sample = isAll || named.length > 0 ? [] : ["--", "--sample"];
  const env = { ...process.env, MOTE_SEED: seed };
  const child = spawn(process.execPath, [ava, ...files, ...sample], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const broken = [];
  const report = [];
  let part = "tests";
  let isBroken = false;
  let drawn = 0;
  const errors = [];
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (part !== "tests") {
      if (line === "  ─") part = "end";
      else if (part === "report") report.push(...withCode(withFile(line), report));
      return;
    }
    if (line === "  ─") part = "report";
    if (PASSED.test(line)) counts.passed++;
    if (FAILED.test(line)) counts.failed++;
    if (SKIPPED.test(line)) counts.skipped++;
    // A file that ended on an exception counts once.
    const [, ended] = / (\S+) exited /.exec(line) ?? [];
    if (BROKEN.test(line) && !broken.some((text) => ended && text.endsWith(` ${ended}`))) counts.failed++;
    isBroken = BROKEN.test(line) || (isBroken && !/^ {2}[✔✘─-] ?/.test(line));
    if (isBroken) broken.push(line);
    if (Date.now() - drawn < REDRAW_MS) return;
    drawn = Date.now();
    progress(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  });
  return new Promise((resolve) =>
    child.on("close", (code) => {
      if (code !== 0 && counts.failed === 0) {
        counts.failed = 1;
        broken.push(...errors, `  AVA ended with ${code}`);
      }
      // Without a failed test the report holds AVA's own counts alone.
      const failures = part === "end" ? report : [];
      resolve({ counts, text: [...broken, ...failures].join("\n").trim() });
    }),
  );
}

const seed = process.env.MOTE_SEED ?? String(randomInt(2 ** 31));
if (!isTerminal) show(`running, samples drawn by MOTE_SEED=${seed}\n`);
const wrong = named.length > 0 ? undefined : check();
const { counts, text } = wrong
  ? { counts: { passed: 0, failed: 1, skipped: 0 }, text: wrong.trim() }
  : await run(selected(), seed);
progress("");
if (text) show(`\n${text}\n\n  to repeat: MOTE_SEED=${seed}\n\n`);
show(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;
