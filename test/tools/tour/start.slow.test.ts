// `mote start` as a person runs it: real processes, real time.
import { type ChildProcess, execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { STEPS } from "../../../tools/tour/steps/index.js";
import { CLI, killAll, launch } from "../cli/commands.js";
import { scratch } from "../scratch.js";
import { until } from "../until.js";

const directory = scratch();
test.after.always(killAll);

interface Run {
  process: ChildProcess;
  output: string;
  ended: Promise<number | null>;
  temporary: string;
}

/** Each run has temporary files of its own, to see what it leaves behind. */
function run(name: string, ...args: string[]): Run {
  const temporary = mkdtempSync(join(directory, `${name}-`));
  const child = launch(["start", "--port", "0", ...args], { TMPDIR: temporary });
  const ended = once(child, "close").then(([code]) => code as number | null);
  const found = { process: child, output: "", temporary, ended };
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text) => (found.output += String(text)));
  return found;
}

/** The platform's address, once the agent is online and the hints are shown. */
async function up(start: Run): Promise<string> {
  await until(() => start.output.includes("firmware 2.0.0:"));
  return until(() => /^platform (http:\S+)$/m.exec(start.output)?.[1]);
}

const stopsAnswering = (url: string): Promise<boolean> =>
  until(() =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  );

/** A lease that was not released, which is `run.lock.1.free`. */
const isHeld = (state: string): boolean => readdirSync(state).some((name) => /^run\.lock\.\d+$/.test(name));

test("the tour sees every capability, then ends with 0 and leaves nothing behind", async (t) => {
  const start = run("tour", "--for", "50s");
  const code = await start.ended;
  t.is(code, 0, start.output);
  t.is(start.output.match(/^✓ /gm)?.length, STEPS.length);
  t.notRegex(start.output, /✗/);
  t.deepEqual(readdirSync(start.temporary), []);
});

test("a tour without enough time ends with 1 and shows what was not reached", async (t) => {
  const start = run("short", "--for", "300ms");
  t.is(await start.ended, 1);
  t.is(start.output.match(/^✗ /gm)?.length, STEPS.length);
  t.regex(start.output, /^✗ the new firmware's .* {2}not reached$/m);
  t.deepEqual(readdirSync(start.temporary), []);
});

test("the shell lines of the hints work", async (t) => {
  const start = run("hints");
  await up(start);
  const lines = start.output.split("\n").filter((line) => /^ {2}(?:\w+=\w+ )?npx mote-cli /.test(line));
  t.is(lines.length, 5, start.output);
  const env = { ...process.env, MOTE_LOGIN: join(start.temporary, "login.json") };
  const shell = async (some: string[]) => {
    const here = some.map((line) => line.replace("npx mote-cli", `'${process.execPath}' '${CLI}'`));
    return (await promisify(execFile)("sh", ["-c", here.join(" && ")], { env })).stdout;
  };
  const [login = "", ...others] = lines;
  await shell([login]);
  // The first point may not have been there yet.
  const reading = /^temperature +\d+(?:\.\d+)? +\d{4}-/m;
  const look = others.filter((line) => line.includes(" telemetry "));
  let latest = await shell(look);
  for (let tries = 0; tries < 50 && !reading.test(latest); tries++) latest = await shell(look);
  t.regex(latest, reading);
  t.regex(await shell(others), /"on": true,\s+"colour": "green"/);
  await until(() => /^firmware 2\.0\.0: confirmed$/m.test(start.output));
  t.regex(start.output, /^attributes: interval$/m);
  rmSync(join(start.temporary, "login.json"));
  start.process.kill("SIGTERM");
  t.is(await start.ended, 0);
});

test("platform and agent stop cleanly when their parent is killed", async (t) => {
  const state = join(directory, "killed-state");
  const start = run("killed", "--state", state);
  const url = await up(start);
  t.true(isHeld(state));
  start.process.kill("SIGKILL");
  await start.ended;
  t.true(await stopsAnswering(url));
  // Only an agent that ended in good order gives its state directory back.
  await t.notThrowsAsync(until(() => !isHeld(state)));
});

test("kept state is used again with a platform that does not know the device", async (t) => {
  const state = join(directory, "kept-state");
  for (const starts of [1, 2]) {
    const start = run(`kept-${starts}`, "--state", state);
    const url = await up(start);
    t.regex(start.output, /^provisioned as greenhouse-7$/m);
    t.notRegex(start.output, /^refused by /m);
    start.process.kill("SIGINT");
    t.is(await start.ended, 0);
    t.true(start.output.startsWith(`platform ${url}\n`));
    t.regex(start.output, /^online$/m);
    t.regex(start.output, /^stopped$/m);
    t.true(await stopsAnswering(url));
    t.deepEqual(readdirSync(start.temporary), []);
  }
});
