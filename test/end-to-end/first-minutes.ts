// node scripts/campaign.mjs first-minutes [-- DIR]: how long a newcomer waits, from `git clone` to a live chart in the console, and, with $MODDABLE, from `mote new` to
// the first point in the simulator. Packages come from npm's cache where it has them: what is downloaded is nobody's measure.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { closeBrowser, executablePath } from "../tools/console/browser.js";
import { logIn } from "../tools/console/rig.js";

const NAME = "greenhouse-7";
const PATIENCE_MS = 300_000;

let before = performance.now();
function lap(what: string): void {
  const now = performance.now();
  console.log(`${((now - before) / 1000).toFixed(1).padStart(7)} s  ${what}`);
  before = now;
}

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

/** The first line that matches, of a process that goes on. */
async function lineOf(child: ChildProcess, wanted: RegExp): Promise<RegExpExecArray> {
  const late = setTimeout(() => child.kill(), PATIENCE_MS);
  for await (const line of createInterface(child.stdout!)) {
    const found = wanted.exec(line);
    if (!found) continue;
    clearTimeout(late);
    return found;
  }
  throw new Error(`it ended without ${wanted}`);
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  await over;
}

const INSTALL = ["--prefer-offline", "--no-audit", "--no-fund"];
const out = ["ignore", "pipe", "inherit"] as const;

async function toTheChart(place: string): Promise<void> {
  const clone = join(place, "clone");
  run("git", ["clone", "-q", process.cwd(), clone], place);
  lap("git clone");
  run("npm", ["ci", ...INSTALL], clone);
  lap("npm ci");
  // In a process group of its own: npm passes no signal on to what it started.
  const demo = spawn("npm", ["start"], { cwd: clone, stdio: [...out], detached: true });
  const [, url = ""] = await lineOf(demo, /(http:\/\/127\.0\.0\.1:\d+)/);
  lap("npm start, to its address");
  if (executablePath === undefined) console.log("          no Chromium: nobody looks at the chart");
  else {
    const { page } = await logIn(url);
    await page.getByRole("link", { name: NAME }).first().click();
    await page.locator("figure canvas").first().waitFor();
    lap("signed in at the console, to the chart");
    await closeBrowser();
  }
  process.kill(-demo.pid!, "SIGINT");
  await new Promise((resolve) => demo.once("exit", resolve));
  before = performance.now();
}

async function toThePoint(place: string): Promise<void> {
  const project = join(place, "greenhouse");
  run("node", [join(place, "clone", "tools", "bin", "mote.js"), "new", project], place);
  lap("mote new");
  run("npm", ["install", ...INSTALL], project);
  lap("npm install");
  const args = ["run", "-s", "simulator", "--", "--headless", "--for", "30s"];
  const simulator = spawn("npm", args, { cwd: project, stdio: [...out] });
  await lineOf(simulator, /delivered \d/);
  lap("npm run simulator, to the first point delivered");
  await endOf(simulator);
}

const place = process.argv[2] ?? mkdtempSync(join(tmpdir(), "mote-first-"));
try {
  const began = performance.now();
  await toTheChart(place);
  if (process.env.MODDABLE) await toThePoint(place);
  else console.log("          $MODDABLE is not set: no simulator");
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  in all`);
} finally {
  rmSync(place, { recursive: true, force: true });
}
